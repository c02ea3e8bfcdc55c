/** Resolves as the promise does; rejects with the signal's reason if that is aborted first. */
export const unlessAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> => {
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
  });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
};

/** Waits; rejects with the signal's reason if that is aborted first. */
export const pause = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await unlessAborted(over, signal).finally(() => clearTimeout(timer));
};

/** Milliseconds before the next attempt: about twice as long each time, and never the same for many clients. */
export const toDelay = (attempts: number, longest: number): number =>
  Math.min(longest, 250 * 2 ** attempts) * (0.5 + Math.random() / 2);
