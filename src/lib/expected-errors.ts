/**
 * Base class of errors that are normal results, such as a refused request. They have no stack trace, because creating
 * one would cost more than the request itself.
 */
export class ExpectedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Error for a store that currently cannot be read or written. The client may retry. Becomes a 503 with Retry-After. */
export class StoreUnavailable extends ExpectedError {}

/** Handler for a rejected promise: passes if the store is unavailable, and throws any other error. */
export const passIfUnavailable = (error: unknown): undefined => {
  if (!(error instanceof StoreUnavailable)) throw error;
};

/** Error for a value that a working store can never accept. Becomes a 400. */
export class ValueRefusal extends ExpectedError {}

/** Error for a stored version that is newer than the client's. Becomes a 412 with the current version as ETag. */
export class StoreConflict extends ExpectedError {
  /** Version in the store. */
  readonly version: number;

  constructor(message: string, version: number) {
    super(message);
    this.version = version;
  }
}

/** Error for an `Idempotency-Key` that was used before with another body. Becomes a 422. */
export class RepeatRefusal extends ExpectedError {
  constructor() {
    super('This Idempotency-Key was used for a request with another body');
  }
}
