import type { AllHTMLAttributes, ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';

interface Common {
  label: string;
  hint?: string | undefined;
  /** Why the value is refused. */
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
    type?: 'text' | 'search' | 'password' | 'number' | 'time' | 'datetime-local';
    /** A button beside it. */
    aside?: ComponentChildren;
  };

/** Of a field for a name or another text that is not prose: nothing is filled in, capitalized or corrected. */
export const exact = { autocomplete: 'off', autocapitalize: 'none', spellcheck: false } as const;

/** A labelled text field. */
export const Field = ({ label, hint, error, aside, onValue, ...rest }: Input) => {
  const id = useId();
  const about = hint || error ? `${id}-about` : undefined;
  const input = (
    <input
      // Preact's types know each type of input by itself.
      {...(rest as InputHTMLAttributes<HTMLInputElement>)}
      id={id}
      aria-describedby={about}
      aria-invalid={error ? 'true' : undefined}
      onInput={({ currentTarget }) => onValue(currentTarget.value)}
    />
  );
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {aside ? (
        <div class="joined">
          {input}
          {aside}
        </div>
      ) : (
        input
      )}
      {about && (
        <p id={about} class={error ? 'error' : 'hint'}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
};

type Choices = Common &
  Pick<AllHTMLAttributes<HTMLSelectElement>, Shared> & { options: [value: string, label: string][] };

/** A labelled list to choose one from. */
export const Choice = ({ label, hint, error, onValue, options, value, ...rest }: Choices) => {
  const id = useId();
  const about = hint || error ? `${id}-about` : undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        {...rest}
        id={id}
        value={value}
        aria-describedby={about}
        aria-invalid={error ? 'true' : undefined}
        onChange={({ currentTarget }) => onValue(currentTarget.value)}
      >
        {options.map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </select>
      {about && (
        <p id={about} class={error ? 'error' : 'hint'}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
};

/** A labelled text field of several lines. */
export const Area = ({ label, hint, value, lines = 4, onValue }: Omit<Common, 'error'> & { lines?: number }) => {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={lines}
        value={value}
        aria-describedby={hint && `${id}-hint`}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
};

interface CheckProps {
  label: string;
  hint?: string;
  checked: boolean;
  onValue: (checked: boolean) => void;
}

/** A labelled check box. */
export const Check = ({ label, hint, checked, onValue }: CheckProps) => {
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
