import { toHash } from '../router.ts';
import { text } from '../strings/index.ts';
import { Icon, type IconName } from './icon.tsx';
import { notify } from './toast.tsx';

/** Puts text on the clipboard, and says so. */
const copyText = async (value: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(value);
    notify(text.copied);
  } catch {
    notify(text.copyFailed, { kind: 'failure' });
  }
};

interface Props {
  /** Called when it is copied. */
  value: () => string;
  label?: string;
  icon?: IconName;
}

export const CopyButton = ({ value, label = text.copy, icon = 'copy' }: Props) => (
  <button type="button" onClick={() => void copyText(value())}>
    <Icon name={icon} /> {label}
  </button>
);

/** Copies the address of a place of the console, for a message or a ticket. */
export const CopyLink = ({ path }: { path: string }) => (
  <CopyButton label={text.copyLink} icon="link" value={() => new URL(toHash(path), location.href).href} />
);
