/** Runs steps one after the other, in the order they were given, whether those before succeed or not. */
export type Serially = <T>(step: () => Promise<T>) => Promise<T>;

export const createSerial = (): Serially => {
  let last: Promise<unknown> = Promise.resolve();
  return (step) => {
    const run = last.then(step);
    last = run.catch(() => undefined);
    return run;
  };
};
