/** A store cannot be read or written at the moment; the client may try again. Becomes a 503 with Retry-After. */
export class StoreUnavailable extends Error {}

/** The stored version is newer than the client's. Becomes a 412 with the current version as ETag. */
export class StoreConflict extends Error {
  /** The version that is stored now. */
  readonly version: number;

  constructor(message: string, version: number) {
    super(message);
    this.version = version;
  }
}

/** An `Idempotency-Key` came again with another body, which becomes a 422. */
export class KeyRefusal extends Error {
  constructor() {
    super('This Idempotency-Key was used for another body');
  }
}

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
