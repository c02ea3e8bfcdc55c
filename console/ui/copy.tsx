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
