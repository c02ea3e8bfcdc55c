import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { place, setParams } from '../router.ts';
import { Field } from './field.tsx';

/** Milliseconds without a key press after which typed text becomes the filter. */
const calm = 200;

interface Props {
  /** The parameter of the address that holds the text. */
  name: string;
  label: string;
  type?: 'text' | 'search' | 'datetime-local';
}

/** A filter that is applied while it is typed; Escape clears it. */
export const TextFilter = ({ name, label, type = 'text' }: Props) => {
  const inAddress = place.value.params[name] ?? '';
  const typed = useSignal(inAddress);
  const written = useRef(inAddress);
  useEffect(() => {
    // An address that this filter wrote may be older than what has been typed since.
    if (inAddress !== written.current) typed.value = inAddress;
    written.current = inAddress;
  }, [inAddress]);
  useEffect(() => {
    const timer = setTimeout(() => {
      written.current = typed.value;
      setParams({ [name]: typed.value }, { replace: true });
    }, calm);
    return () => clearTimeout(timer);
  }, [typed.value]);
  return (
    <Field
      label={label}
      type={type}
      value={typed.value}
      autocomplete="off"
      spellcheck={false}
      onValue={(value) => {
        typed.value = value;
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') typed.value = '';
      }}
    />
  );
};
