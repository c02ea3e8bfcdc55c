/**
 * Base class of errors that are normal results, e.g. a refused request. They have no stack trace, which would cost more
 * than the request itself.
 */
export class ExpectedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** A store that cannot be read or written at the moment. The client may try again: 503 with Retry-After. */
export class StoreUnavailable extends ExpectedError {}

/** A value that the store can never take, although it works: 400. */
export class ValueRefusal extends ExpectedError {}

/** A stored version newer than the client's: 412 with the current version as ETag. */
export class StoreConflict extends ExpectedError {
  /** The stored version. */
  readonly version: number;

  constructor(message: string, version: number) {
    super(message);
    this.version = version;
  }
}

/** A repeated `Idempotency-Key` with another body: 422. */
export class KeyRefusal extends ExpectedError {
  constructor() {
    super('This Idempotency-Key was used for another body');
  }
}
