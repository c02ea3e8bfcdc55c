import { StoreUnavailable } from '../../lib/expected-errors.ts';

/**
 * Error codes of a log. On startup: `locked` (another process writes to the log), `unusable` (the directory or file
 * cannot be written), `damaged` (a record is missing from a log of changes). On append: `unavailable` (the last write
 * or sync failed), `queue-full`, `too-large` (a line), `closed`. On reading: `window-too-large` (the requested records
 * span too much of the log), `gone` (some records are only in a snapshot). `low-space` occurs only as the cause of
 * `unavailable`.
 */
type JournalErrorCode =
  | 'locked'
  | 'unusable'
  | 'unavailable'
  | 'low-space'
  | 'queue-full'
  | 'too-large'
  | 'closed'
  | 'window-too-large'
  | 'gone'
  | 'damaged';

export class JournalError extends Error {
  readonly code: JournalErrorCode;

  constructor(code: JournalErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

/** Returns the code of an error: the operating system's (`ENOENT`), or that of a JournalError. */
export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code;

/** Ignores the error for a missing file, because another program may have moved or deleted it. For use with `catch`. */
export const passIfGone = (error: unknown): undefined => {
  if (codeOf(error) !== 'ENOENT') throw error;
  return undefined;
};

/** Reasons for failed writes that clients may see. All other reasons appear only in the log of the program. */
const reasons: Record<string, string> = {
  'low-space': 'not enough space is free on the disk',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file has reached its maximum size',
  EIO: 'the disk reports an error',
  EROFS: 'the file system is read-only',
};

/** Returns the reason in brackets after a space. Empty if clients must not see the reason. */
export const toBracketedReason = (error: unknown): string => {
  const reason = reasons[codeOf(error) ?? ''];
  return reason === undefined ? '' : ` (${reason})`;
};

/**
 * Creates the error for a store that cannot store changes. `cause` is the error of its log. It wraps the operating
 * system's error.
 */
export const toNotStored = (what: string, cause: Error | undefined): StoreUnavailable =>
  new StoreUnavailable(
    `${what} cannot be stored at the moment${toBracketedReason(cause?.cause)}; try again in a second`,
    {
      cause,
    },
  );

/** Explains why a log could not be opened. For an unknown reason, keeps the text from the operating system. */
export const explainOpening = (error: unknown): string =>
  ({ ...reasons, ...openingReasons })[codeOf(error) ?? ''] ?? (error as Error).message;

const openingReasons: Record<string, string> = {
  ENOENT: 'the folder cannot be created',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'there is a folder with the name of a log file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
};
