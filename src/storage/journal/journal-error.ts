/**
 * The closed set of ways in which a journal fails.
 * At start: `locked` (another process writes to it), `unusable` (the directory or file cannot be written).
 * On append: `unavailable` (the last write or sync failed), `queue-full`, `too-large` (the line), `closed`.
 * `low-space` is only ever the cause of an `unavailable`.
 */
export type JournalErrorCode =
  | 'locked'
  | 'unusable'
  | 'unavailable'
  | 'low-space'
  | 'queue-full'
  | 'too-large'
  | 'closed';

export class JournalError extends Error {
  readonly code: JournalErrorCode;

  constructor(code: JournalErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

/** The code an error carries: the operating system's (`ENOENT`) or one of a JournalError. */
export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
