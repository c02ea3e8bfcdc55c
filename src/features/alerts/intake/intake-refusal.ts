import { HttpError } from '../../../http/errors.ts';
import { RepeatRefusal } from '../../../lib/expected-errors.ts';
import { JournalError } from '../../../storage/journal/errors.ts';

/** Converts store errors to responses. Returns other errors unchanged. */
export const toIntakeRefusal = (error: unknown): unknown => {
  if (error instanceof RepeatRefusal) {
    return new HttpError('unprocessable', 'This Idempotency-Key was used for another alert');
  }
  if (!(error instanceof JournalError)) return error;
  const kind = error.code === 'too-large' ? 'too-large' : 'unavailable';
  return new HttpError(kind, `The alert was not stored: ${error.message}`, { headers: { 'retry-after': '1' } });
};
