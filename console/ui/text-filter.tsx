import { Field } from './field.tsx';
import { useTyped } from './typed.ts';

interface Props {
  /** URL parameter that contains the text. */
  name: string;
  label: string;
  type?: 'text' | 'search' | 'datetime-local';
  /** Example text. */
  example?: string;
}

/** Text filter. Applied while typing. Escape clears the text. */
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
