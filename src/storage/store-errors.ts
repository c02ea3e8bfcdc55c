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
