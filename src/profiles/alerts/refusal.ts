import { HttpError } from '../../http/response/errors.ts';
import { JournalError } from '../../storage/journal/errors.ts';

const retryAfter = { 'Retry-After': '1' };

/** The response to an alert that was not stored; errors that are not the journal's stay as they are. */
export const toRefusal = (error: unknown): unknown => {
  if (!(error instanceof JournalError)) return error;
  const kind = error.code === 'too-large' ? 'too-large' : 'unavailable';
  return new HttpError(kind, `The alert was not stored: ${error.message}`, { headers: retryAfter });
};

/** The response to a list that would take too much reading; other errors stay as they are. */
export const toListRefusal = (error: unknown, count: number): unknown =>
  error instanceof JournalError && error.code === 'window-too-large'
    ? new HttpError(
        'invalid',
        `count is too large: the last ${count} alerts take up more than 256 MiB of the log; ask for fewer`,
      )
    : error;

/** The response of the readiness check while alerts are not stored. */
export const createNotReady = (): HttpError =>
  new HttpError('unavailable', 'The alert log cannot be written at the moment', { headers: retryAfter });
