import { place, toHash } from '../router.ts';
import { isMounted } from '../routes.ts';

/** The most characters of a pattern. */
const most = 256;

/** What alerts of the same kind have in common with this text: numbers may differ. */
const toPattern = (message: string): string => {
  const pattern = message.replace(/^Resolved: /, '').replace(/\d+/g, '*');
  return pattern.length > most ? `${pattern.slice(0, most - 1)}*` : pattern;
};

interface Like {
  source: string;
  hostname: string;
  message: string;
}

/** The address of the form of a silence of what is like this, from which people come back here; undefined without one. */
export const toSilenceLink = ({ source, hostname, message }: Like): string | undefined => {
  if (!isMounted('createSilence')) return undefined;
  const { path, rest, params } = place.value;
  const back = toHash(rest ? `${path}/${encodeURIComponent(rest)}` : path, params).slice(1);
  return toHash('/silences/new', { source, hostname, text: toPattern(message), back });
};
