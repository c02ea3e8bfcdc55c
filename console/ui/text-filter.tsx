import { Field } from './field.tsx';
import { useTyped } from './typed.ts';

interface Props {
  /** The parameter of the address that holds the text. */
  name: string;
  label: string;
  type?: 'text' | 'search' | 'datetime-local';
  /** An example of what to type. */
  example?: string;
}

/** A filter that is applied while it is typed; Escape clears it. */
export const TextFilter = ({ name, label, type = 'text', example = '' }: Props) => {
  const { typed } = useTyped([name]);
  return (
    <Field
      label={label}
      type={type}
      value={typed.value[name] ?? ''}
      placeholder={example}
      autocomplete="off"
      spellcheck={false}
      onValue={(value) => {
        typed.value = { [name]: value };
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') typed.value = { [name]: '' };
      }}
    />
  );
};
