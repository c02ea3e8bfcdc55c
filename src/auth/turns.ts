/** Too many are having their turn and waiting for one already. */
export class BusyError extends Error {}

interface Limits {
  running: number;
  waiting: number;
}

/** At most `running` tasks at a time and `waiting` behind them, first come first served; more are a BusyError. */
export const createTurns = ({ running, waiting }: Limits): (<T>(task: () => Promise<T>) => Promise<T>) => {
  let free = running;
  const line: (() => void)[] = [];
  const waitForTurn = async (): Promise<void> => {
    if (free > 0) free -= 1;
    else if (line.length < waiting) await new Promise<void>((resolve) => line.push(resolve));
    else throw new BusyError();
  };
  // Whoever is next takes over the place, so that nobody slips in between.
  const endTurn = (): void => {
    const next = line.shift();
    if (next) next();
    else free += 1;
  };
  return async (task) => {
    await waitForTurn();
    try {
      return await task();
    } finally {
      endTurn();
    }
  };
};
