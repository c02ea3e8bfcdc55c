import { hash } from 'node:crypto';
import { cutText } from '../../../lib/well-formed.ts';

/** Hashes parts to 16 hexadecimal digits. The result serves as the fingerprint if the sender gives none. */
export const toFingerprint = (parts: readonly string[]): string => hash('sha256', JSON.stringify(parts)).slice(0, 16);

/** Hashes parts to 22 characters. The result identifies repeats. */
export const hashParts = (...parts: (string | undefined)[]): string =>
  hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 22);

const maxKeyLength = 256;

/** Shortens a long key to its beginning and a hash of the whole key. Different keys thus stay different. */
export const shortenId = (key: string): string =>
  key.length <= maxKeyLength
    ? key
    : `${cutText(key, maxKeyLength - 23)}-${hash('sha256', key, 'base64url').slice(0, 22)}`;
