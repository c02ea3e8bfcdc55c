import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** The keys of tokens. A KeyObject, unlike text, is never printed. */
export interface Keys {
  /** Signs new tokens. */
  current: KeyObject;
  /** Names the current key in new tokens; undefined if it is the only key. */
  currentId: string | undefined;
  /** The keys whose tokens are accepted, by id. */
  byId: ReadonlyMap<string, KeyObject>;
}

/** Keys from secrets of at least 32 bytes (RFC 7518, 3.2): one that signs, and one that is still accepted. */
export const createKeys = (current: Uint8Array, previous?: Uint8Array): Keys => {
  const secrets = previous ? [current, previous] : [current];
  return {
    current: createSecretKey(current),
    currentId: previous && toKeyId(current),
    byId: new Map(secrets.map((secret) => [toKeyId(secret), createSecretKey(secret)])),
  };
};

/** The `kid` of a secret, the same in every process. As a MAC it reveals no more of the secret than a token does. */
const toKeyId = (secret: Uint8Array): string =>
  createHmac('sha256', secret).update('signalbox key id').digest('base64url').slice(0, 11);
