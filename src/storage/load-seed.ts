import { StoreUnavailable } from '../expected-errors.ts';

/** Loads the seed; where the store cannot be used, the server starts without it, and `log` gets the reason. */
export const loadSeed = async (
  restore: () => Promise<void>,
  log: { warn(details: object, message: string): void },
): Promise<void> => {
  try {
    await restore();
  } catch (err) {
    if (!(err instanceof StoreUnavailable)) throw err;
    log.warn({ err }, 'the seed was not loaded: the store cannot be used; start again later to load it');
  }
};
