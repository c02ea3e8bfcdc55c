import { codeOf } from './journal-error.ts';

/** What people are told of why a write failed; errors of other kinds are for the program's own log alone. */
const reasons: Record<string, string> = {
  'low-space': 'too little space is free on the disk',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file is as large as it may be',
  EIO: 'the disk reports an error',
  EROFS: 'the file system is read-only',
};

/** The reason in brackets with a space before it, empty where there is none to tell. */
export const toReason = (error: unknown): string => {
  const reason = reasons[codeOf(error) ?? ''];
  return reason === undefined ? '' : ` (${reason})`;
};
