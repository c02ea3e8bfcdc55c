import { toHash } from '../router.ts';
import { text } from '../strings/index.ts';
import type { IconName } from './icon.tsx';
import { IconButton } from './icon-button.tsx';
import { notify } from './toast.tsx';

/** Copies text to the clipboard and shows a confirmation. */
const copyText = async (value: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(value);
    notify(text.copied);
  } catch {
    notify(text.copyFailed, { kind: 'failure' });
  }
};

interface Props {
  /** Returns the text on each click. */
  value: () => string;
  label?: string;
  icon?: IconName;
}

export const CopyButton = ({ value, label = text.copy, icon = 'copy' }: Props) => (
  <IconButton icon={icon} label={label} onClick={() => void copyText(value())} />
);

/** Button that copies the URL of a screen, for use in a message or a ticket. */
export const CopyLink = ({ path }: { path: string }) => (
  <CopyButton label={text.copyLink} icon="link" value={() => new URL(toHash(path), location.href).href} />
);
