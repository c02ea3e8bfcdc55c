import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

interface ButtonProps {
  icon: IconName;
  label: string;
  /** Accessible name, needed if the label alone is ambiguous. */
  name?: string;
  kind?: 'primary' | 'quiet';
  isDisabled?: boolean;
  onClick: () => void;
}

export const IconButton = ({ icon, label, name, kind, isDisabled, onClick }: ButtonProps) => (
  <button type="button" class={kind} aria-label={name} aria-disabled={isDisabled} onClick={onClick}>
    <Icon name={icon} /> {label}
  </button>
);

interface LinkProps {
  icon: IconName;
  label: ComponentChildren;
  href: string;
  /** True for a link to another site. Such a link opens in a new tab. */
  isExternal?: boolean;
}

/** Link styled as a button. */
export const IconLink = ({ icon, label, href, isExternal = false }: LinkProps) => (
  <a class="button" href={href} {...(isExternal && { target: '_blank', rel: 'noreferrer noopener' })}>
    <Icon name={icon} /> {label}
  </a>
);
