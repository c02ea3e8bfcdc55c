import { StoreUnavailable } from '../../lib/expected-errors.ts';

/**
 * Every way in which a journal can fail.
 * On startup: `locked` (another process writes to it), `unusable` (the directory or file cannot be written), `damaged` (of a
 * log of changes, which needs every record).
 * On append: `unavailable` (the last write or sync failed), `queue-full`, `too-large` (the line), `closed`.
 * On reading: `window-too-large` (the records asked for take up too much of the log), `gone` (some are in a snapshot alone).
 * `low-space` is only ever the cause of an `unavailable`.
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

/** The code an error carries: the operating system's (`ENOENT`) or one of a JournalError. */
export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code;

/** For `catch`: another program may have moved or deleted a file a moment ago. Throws every other error. */
export const passIfGone = (error: unknown): undefined => {
  if (codeOf(error) !== 'ENOENT') throw error;
  return undefined;
};

/** Why a write failed, in words for clients; any other reason goes only to the program's own log. */
const reasons: Record<string, string> = {
  'low-space': 'too little space is free on the disk',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file has reached its maximum size',
  EIO: 'the disk reports an error',
  EROFS: 'the file system is read-only',
};

/** The reason in brackets after a space; empty if it is not for clients. */
export const toBracketedReason = (error: unknown): string => {
  const reason = reasons[codeOf(error) ?? ''];
  return reason === undefined ? '' : ` (${reason})`;
};

/** What a store throws for changes that its log cannot store; the error of the log has that of the system as its cause. */
export const toNotStored = (what: string, cause: Error | undefined): StoreUnavailable =>
  new StoreUnavailable(
    `${what} cannot be stored at the moment${toBracketedReason(cause?.cause)}; try again in a second`,
    {
      cause,
    },
  );

/** Why a log could not be opened; the system's own text for any other reason. */
export const explainOpening = (error: unknown): string =>
  ({ ...reasons, ...openingReasons })[codeOf(error) ?? ''] ?? (error as Error).message;

const openingReasons: Record<string, string> = {
  ENOENT: 'the folder cannot be created',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'a folder has the name of a log file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
};
