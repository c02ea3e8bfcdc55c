import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { place, setParams } from '../router.ts';

/** Milliseconds without a key press after which what was typed is written to the address. */
const calm = 200;

type Values = Record<string, string>;

/** Typed text by the parameter of the address that it follows, and `write`, which writes it there at once. */
interface Typed {
  typed: Signal<Values>;
  write: () => void;
}

/** Text that follows these parameters of the address, and is written to them when the typing pauses. */
export const useTyped = (names: string[]): Typed => {
  const read = (): Values => Object.fromEntries(names.map((name) => [name, place.value.params[name] ?? '']));
  const inAddress = read();
  const typed = useSignal(inAddress);
  const key = JSON.stringify(inAddress);
  const known = useRef(key);
  const write = () => {
    // The user has chosen another address, whose text replaces what was typed.
    if (JSON.stringify(read()) !== known.current) return;
    setParams(typed.value, { replace: true });
    known.current = JSON.stringify(read());
  };
  useEffect(() => {
    // An address that was written here may be older than what has been typed since.
    if (key !== known.current) typed.value = inAddress;
    known.current = key;
  }, [key]);
  useEffect(() => {
    const timer = setTimeout(write, calm);
    return () => clearTimeout(timer);
  }, [typed.value]);
  return { typed, write };
};
