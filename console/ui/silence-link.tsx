import { place, toHash } from '../router.ts';
import { isAllowed } from '../routes.ts';
import { text } from '../strings/index.ts';
import { IconLink } from './icon-button.tsx';

/** Maximum length of a pattern. */
const most = 256;

/** Returns a pattern that matches similar messages, with `*` in place of numbers. */
const toPattern = (message: string): string => {
  const pattern = message.replace(/^Resolved: /, '').replace(/\d+/g, '*');
  return pattern.length > most ? `${pattern.slice(0, most - 1)}*` : pattern;
};

interface Props {
  source: string;
  hostname: string;
  message: string;
}

/** Link to the form for silencing similar alerts. After saving, the form returns to the current page. */
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
