import { createHmac, timingSafeEqual } from 'node:crypto';
import { HttpError } from '../../../http/errors.ts';
import type { Format, IntakeRequest } from './format.ts';

/** Maximum number of seconds by which a signed time may differ from the clock. */
const toleranceSeconds = 300;

/**
 * Verifies the hex HMAC-SHA256 of the body, or of `unixSeconds:body` if the sender includes the time. Throws a 401 if
 * the HMAC is missing or wrong, or if the time is more than five minutes off.
 */
export const assertSigned = (
  secret: string,
  { header, timestampHeader }: NonNullable<Format['signature']>,
  { bytes, headers }: IntakeRequest,
  now: Date,
): void => {
  const time = headers[timestampHeader];
  const mac = createHmac('sha256', secret);
  if (time !== undefined) mac.update(`${time}:`);
  const expected = mac.update(bytes).digest();
  const given = Buffer.from(String(headers[header] ?? ''), 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new HttpError('unauthorized', `The signature in ${header} is missing or wrong`);
  }
  if (time !== undefined && !(Math.abs(now.getTime() / 1000 - Number(time)) <= toleranceSeconds)) {
    throw new HttpError(
      'unauthorized',
      `The time in ${timestampHeader} differs from the clock of the server by more than five minutes`,
    );
  }
};
