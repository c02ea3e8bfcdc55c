import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { place, setParams } from '../router.ts';

/** Milliseconds without a key press before typed text is written to the URL. */
const calm = 200;

type Values = Record<string, string>;

/** Typed text by URL parameter. `write` writes the text to the URL immediately. */
interface Typed {
  typed: Signal<Values>;
  write: () => void;
}

/** Binds text to URL parameters. They are written when typing pauses. */
export const useTyped = (names: string[]): Typed => {
  const read = (): Values => Object.fromEntries(names.map((name) => [name, place.value.params[name] ?? '']));
  const inAddress = read();
  const typed = useSignal(inAddress);
  const key = JSON.stringify(inAddress);
  const known = useRef(key);
  const write = () => {
    // The user has navigated to a URL with other text, so that text replaces the typed text.
    if (JSON.stringify(read()) !== known.current) return;
    setParams(typed.value, { replace: true });
    known.current = JSON.stringify(read());
  };
  useEffect(() => {
    // A URL written here may be older than the typed text.
    if (key !== known.current) typed.value = inAddress;
    known.current = key;
  }, [key]);
  useEffect(() => {
    const timer = setTimeout(write, calm);
    return () => clearTimeout(timer);
  }, [typed.value]);
  return { typed, write };
};
