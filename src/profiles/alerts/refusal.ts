import { HttpError } from '../../http/errors.ts';
import { JournalError } from '../../storage/journal/errors.ts';

export const retryAfter = { 'retry-after': '1' };

/** The response to alerts that were not stored; errors that are not the journal's stay as they are. */
export const toRefusal = (error: unknown): unknown => {
  if (!(error instanceof JournalError)) return error;
  const kind = error.code === 'too-large' ? 'too-large' : 'unavailable';
  return new HttpError(kind, `The alert was not stored: ${error.message}`, { headers: retryAfter });
};
