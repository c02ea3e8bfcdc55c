import type { Signal } from '@preact/signals';
import type { AllHTMLAttributes, ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';

interface Common {
  label: string;
  hint?: string | undefined;
  /** Reason why the value was refused. */
  error?: string | undefined;
  value: string;
  onValue: (value: string) => void;
}

type Shared = 'name' | 'disabled' | 'required';
type Input = Common &
  Pick<
    AllHTMLAttributes<HTMLInputElement>,
    Shared | 'autocomplete' | 'autocapitalize' | 'spellcheck' | 'placeholder' | 'inputMode' | 'list' | 'onKeyDown'
  > & {
    type?: 'text' | 'search' | 'password' | 'color' | 'number' | 'time' | 'datetime-local';
    /** Button next to the field. */
    aside?: ComponentChildren;
  };

/** Binds a field to a signal. */
export const bind = (signal: Signal<string>) => ({
  value: signal.value,
  onValue: (value: string) => {
    signal.value = value;
  },
});

/** Attributes of fields for names and other exact input. They turn off autofill, capitalization and correction. */
export const exact = { autocomplete: 'off', autocapitalize: 'none', spellcheck: false } as const;

interface LabelledProps extends Pick<Common, 'label' | 'hint' | 'error'> {
  /** Renders the field using the attributes that link it to its label and hint. */
  children: (attributes: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': 'true' | undefined;
  }) => ComponentChildren;
}

/** Label of a field, with a hint or the reason for a refusal below. */
const Labelled = ({ label, hint, error, children }: LabelledProps) => {
  const id = useId();
  const about = hint || error ? `${id}-about` : undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': about, 'aria-invalid': error ? 'true' : undefined })}
      {about && (
        <p id={about} class={error ? 'error' : 'hint'}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
};

/** Text field with a label. */
export const Field = ({ label, hint, error, aside, onValue, ...rest }: Input) => (
  <Labelled label={label} hint={hint} error={error}>
    {(attributes) => {
      // Preact types each input type separately.
      const own = rest as InputHTMLAttributes<HTMLInputElement>;
      const input = <input {...own} {...attributes} onInput={({ currentTarget }) => onValue(currentTarget.value)} />;
      return aside ? (
        <div class="joined">
          {input}
          {aside}
        </div>
      ) : (
        input
      );
    }}
  </Labelled>
);

type Choices = Common &
  Pick<AllHTMLAttributes<HTMLSelectElement>, Shared> & { options: [value: string, label: string][] };

/** Drop-down list with a label. */
export const Choice = ({ label, hint, error, onValue, options, ...rest }: Choices) => (
  <Labelled label={label} hint={hint} error={error}>
    {(attributes) => (
      <select {...rest} {...attributes} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
        {options.map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </select>
    )}
  </Labelled>
);

/** Multi-line text field with a label. */
export const Area = ({ label, hint, value, lines = 4, onValue }: Omit<Common, 'error'> & { lines?: number }) => (
  <Labelled label={label} hint={hint}>
    {(attributes) => (
      <textarea
        {...attributes}
        rows={lines}
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
    )}
  </Labelled>
);

interface CheckProps {
  label: string;
  hint?: string;
  checked: boolean;
  onValue: (checked: boolean) => void;
}

export const CheckBox = ({ label, hint, checked, onValue }: CheckProps) => {
  const id = useId();
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        aria-describedby={hint && `${id}-hint`}
        onChange={({ currentTarget }) => onValue(currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
};
