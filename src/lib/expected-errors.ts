/**
 * The base of errors that are normal results, e.g. a refused request. They have no stack trace, which would cost more than
 * the request itself.
 */
export class ExpectedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** A store cannot be read or written at the moment; the client may try again. Becomes a 503 with Retry-After. */
export class StoreUnavailable extends ExpectedError {}

/** The store works, but takes this value never; the client sends another one. Becomes a 400. */
export class ValueRefusal extends ExpectedError {}

/** The stored version is newer than the client's. Becomes a 412 with the current version as ETag. */
export class StoreConflict extends ExpectedError {
  /** The version that is stored now. */
  readonly version: number;

  constructor(message: string, version: number) {
    super(message);
    this.version = version;
  }
}

/** An `Idempotency-Key` came again with another body, which becomes a 422. */
export class KeyRefusal extends ExpectedError {
  constructor() {
    super('This Idempotency-Key was used for another body');
  }
}
