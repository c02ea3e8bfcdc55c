import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** The keys of tokens. A KeyObject, other than a text, is not shown by whatever prints it. */
export interface Keys {
  /** Signs new tokens. */
  current: KeyObject;
  /** Names the current key in new tokens; undefined while there is but one, which needs no name. */
  currentId: string | undefined;
  /** The keys whose tokens are accepted, by their ids. */
  byId: ReadonlyMap<string, KeyObject>;
}

/** Keys from secrets of at least 32 bytes (RFC 7518, 3.2): the one that signs, and one that is still accepted. */
export const createKeys = (current: Uint8Array, previous?: Uint8Array): Keys => {
  const secrets = previous ? [current, previous] : [current];
  return {
    current: createSecretKey(current),
    currentId: previous && toKeyId(current),
    byId: new Map(secrets.map((secret) => [toKeyId(secret), createSecretKey(secret)])),
  };
};

/**
 * The `kid` of a secret, the same in every process that has it. It is a MAC under the secret, so that it tells no
 * more of the secret than any token does.
 */
const toKeyId = (secret: Uint8Array): string =>
  createHmac('sha256', secret).update('signalbox key id').digest('base64url').slice(0, 11);
