import { type ErrorKind, HttpError } from '../../http/response/errors.ts';
import type { JournalError, JournalErrorCode } from '../../storage/journal/errors.ts';

const retryAfter = { 'Retry-After': '1' };

const kindOf: Partial<Record<JournalErrorCode, ErrorKind>> = { 'too-large': 'too-large' };

/** What a client is told when its alert was not stored: send it again in a second, unless it is too large. */
export const toRefusal = ({ code, message }: JournalError): HttpError =>
  new HttpError(kindOf[code] ?? 'unavailable', `The alert was not stored: ${message}`, {
    headers: retryAfter,
  });

/** The answer of the readiness check while alerts are not stored. */
export const createNotReady = (): HttpError =>
  new HttpError('unavailable', 'The alert log cannot be written at the moment', { headers: retryAfter });
