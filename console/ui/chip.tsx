import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

export interface Look {
  /** Colour from style/colors.css: `critical`, `error`, `warning`, `info`, `good` or `quiet`. */
  tone: string;
  icon?: IconName | undefined;
}

interface Props extends Look {
  children: ComponentChildren;
}

/** Label with icon and colour. The text alone carries the meaning. */
export const Chip = ({ tone, icon, children }: Props) => (
  <span class={`chip tone-${tone}`}>
    {icon && <Icon name={icon} />}
    <span>{children}</span>
  </span>
);

interface ToggleProps extends Props {
  pressed: boolean;
  onToggle: () => void;
}

/** Filter chip that can be on or off. */
export const ChipToggle = ({ tone, icon, children, pressed, onToggle }: ToggleProps) => (
  <button type="button" class={`chip toggle tone-${tone}`} aria-pressed={pressed} onClick={onToggle}>
    {icon && <Icon name={icon} />}
    <span>{children}</span>
  </button>
);

interface SegmentsProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [value: T, label: string])[];
  onValue: (value: T) => void;
}

/** Segmented control: a few options side by side, of which exactly one is active. */
export const Segments = <T extends string>({ label, value, options, onValue }: SegmentsProps<T>) => (
  <fieldset class="segments">
    <legend class="unseen">{label}</legend>
    {options.map(([each, name]) => (
      <button key={each} type="button" aria-pressed={each === value} onClick={() => onValue(each)}>
        {name}
      </button>
    ))}
  </fieldset>
);
