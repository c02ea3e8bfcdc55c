import { place, toHash } from '../router.ts';
import { isAllowed } from '../routes.ts';
import { text } from '../strings/index.ts';
import { IconLink } from './icon-button.tsx';

/** The most characters of a pattern. */
const most = 256;

/** What alerts of the same kind have in common with this text: numbers may differ. */
const toPattern = (message: string): string => {
  const pattern = message.replace(/^Resolved: /, '').replace(/\d+/g, '*');
  return pattern.length > most ? `${pattern.slice(0, most - 1)}*` : pattern;
};

interface Props {
  source: string;
  hostname: string;
  message: string;
}

/** To the form of a silence of what is like this, from which people come back here. */
export const SilenceLink = ({ source, hostname, message }: Props) => {
  if (!isAllowed('createSilence')) return null;
  const { path, rest, params } = place.value;
  const back = toHash(rest ? `${path}/${encodeURIComponent(rest)}` : path, params).slice(1);
  return (
    <IconLink
      icon="silences"
      label={text.silences.like}
      href={toHash('/silences/new', { source, hostname, text: toPattern(message), back })}
    />
  );
};
