import { StoreUnavailable } from '../../expected-errors.ts';
import { lengthOf } from '../length.ts';
import type { Changes, OpenChanges, State } from './changes.ts';

/**
 * Opens changes of states that together may take up so many bytes of memory. Changes by which a state would grow beyond
 * them are refused with `refusal`; what is stored already is opened in any case.
 */
export const limitBytes = (openChanges: OpenChanges, maxBytes: number, refusal: string): OpenChanges => {
  const states: Pick<State<never, unknown>, 'bytes'>[] = [];
  /** About the bytes of changes that wait for the disk. */
  let waiting = 0;
  const isTooMuch = (growth: number): boolean =>
    growth > 0 && states.reduce((sum, { bytes }) => sum + bytes, waiting + growth) > maxBytes;
  const countUntil = (written: Promise<unknown>, bytes: number): void => {
    waiting += bytes;
    const stop = (): void => {
      waiting -= bytes;
    };
    written.then(stop, stop);
  };
  return async (name, state, onLost) => {
    const changes = await openChanges(name, state, onLost);
    states.push(state);
    const limited: Changes<Parameters<typeof state.apply>[0], ReturnType<typeof state.apply>> = {
      write: (change) => {
        // The first is quicker to tell, and mostly enough.
        if (isTooMuch(toMostBytes(change)) && isTooMuch(state.growthOf(change))) throw new StoreUnavailable(refusal);
        const written = changes.write(change);
        if (written instanceof Promise) countUntil(written, lengthOf(change));
        return written;
      },
      isReady: () => changes.isReady(),
      save: () => changes.save(),
      reopen: () => changes.reopen(),
      close: () => changes.close(),
    };
    return limited;
  };
};

/** No change makes a state grow by more: a character of JSON takes up to six, of two bytes each. */
const toMostBytes = (change: unknown): number => 1024 + 12 * lengthOf(change);
