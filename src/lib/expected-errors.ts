/**
 * Base class of errors that are normal results, e.g. a refused request. Such errors have no stack trace, because
 * creating one would cost more than the request itself.
 */
export class ExpectedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Error of a store that currently cannot be read or written. The client may retry: 503 with Retry-After. */
export class StoreUnavailable extends ExpectedError {}

/** Error of a working store that can never accept this value: 400. */
export class ValueRefusal extends ExpectedError {}

/** Error for a stored version that is newer than the client's: 412 with the current version as ETag. */
export class StoreConflict extends ExpectedError {
  /** The stored version. */
  readonly version: number;

  constructor(message: string, version: number) {
    super(message);
    this.version = version;
  }
}

/** Error for an `Idempotency-Key` that was used before with another body: 422. */
export class KeyRefusal extends ExpectedError {
  constructor() {
    super('This Idempotency-Key was used for another body');
  }
}
