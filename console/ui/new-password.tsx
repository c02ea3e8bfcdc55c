import { useSignal } from '@preact/signals';
import { text } from '../strings/index.ts';
import { Field } from './field.tsx';
import { Icon } from './icon.tsx';

interface Props {
  label: string;
  hint: string;
  error?: string | undefined;
  value: string;
  onValue: (value: string) => void;
}

/** Field for a new password, with a button to show it. */
export const NewPassword = (props: Props) => {
  const isShown = useSignal(false);
  return (
    <Field
      {...props}
      name="new-password"
      type={isShown.value ? 'text' : 'password'}
      autocomplete="new-password"
      autocapitalize="none"
      spellcheck={false}
      aside={
        <button
          type="button"
          aria-label={isShown.value ? text.hidePassword : text.showPassword}
          onClick={() => {
            isShown.value = !isShown.value;
          }}
        >
          <Icon name={isShown.value ? 'hide' : 'watches'} />
        </button>
      }
    />
  );
};
