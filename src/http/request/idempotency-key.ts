import type { IncomingHttpHeaders } from 'node:http';
import { HttpError } from '../response/errors.ts';

const longestKey = 256;

/** For the OpenAPI document. */
export const idempotencyKeyHeader = {
  'Idempotency-Key': 'The same for each attempt to send a request: later ones get the first response again.',
};

/** The header `Idempotency-Key`, if there is one; it must have 1 to 256 characters. */
export const readIdempotencyKey = (headers: IncomingHttpHeaders): string | undefined => {
  const header = headers['idempotency-key'];
  if (header === undefined) return undefined;
  const key = String(header);
  if (key !== '' && key.length <= longestKey) return key;
  throw new HttpError('invalid', `Idempotency-Key must have 1 to ${longestKey} characters`);
};
