import { createHash, randomBytes } from 'node:crypto';
import type { Static } from 'typebox';
import Type from 'typebox';
import { hasRole, type Right, type Scope, scopes } from './rights.ts';

/** Callers that a route admits: everyone, callers with its right, or only Admins and keys with its right. */
export type Access = 'open' | 'token' | 'admin';

/** Access rule of a route or a topic. */
export interface RouteAccess {
  access: Access;
  /** Right that callers need. Not needed if `access` is `open`. */
  right: Right;
  /** True for a route of the contract. The contract treats a key without the scope as a malformed token. */
  isSpecified?: boolean;
}

/** Creates the access rule of a route that always requires its right. */
export const needs = (right: Right): RouteAccess => {
  return { access: hasRole(right, 'Reader') ? 'token' : 'admin', right };
};

/** Creates the access rule of a route that requires its right only if the setting `access` closes the route. */
export const openFor = (right: Right): RouteAccess => {
  return { access: 'open', right };
};

/** Values of the setting `access` for one profile. */
const levels = ['open', 'login', 'admin'] as const;
export type AccessLevel = (typeof levels)[number];

/** Schema of the setting `access`: one word for all profiles, or one word per profile. */
export const AccessSetting = Type.Union([Type.Enum(['open', 'login']), Type.Record(Type.String(), Type.Enum(levels))], {
  default: 'open',
  description:
    'Access to routes: with `open`, many routes need no token; with `login`, all routes except health checks and pages need a token or key. In the config file, an object can set `open`, `login` or `admin` for each profile.',
});
export type AccessSetting = Static<typeof AccessSetting>;

const keyName = {
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$',
  description: 'A name without control characters.',
};

/**
 * True if the name is valid for a key. The name must be a single printable line, because it appears in logs and lists.
 */
export const isKeyName = (name: string): boolean => name !== '' && new RegExp(keyName.pattern).test(name);

/** Entry of the setting `keys`. Contains only the hash, so that the file does not reveal the key. */
export const AccessKey = Type.Object(
  {
    name: Type.String({ minLength: 1, ...keyName }),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'The hash that `signalbox create-key` prints.' }),
    scopes: Type.Array(Type.Enum(scopes), { minItems: 1 }),
  },
  { additionalProperties: false },
);
export type AccessKey = Static<typeof AccessKey>;

/** Prefix of every key, by which people and secret scanners recognize keys. */
const prefix = 'sbk_';

/** Number of base-62 digits needed for 256 bits. */
const digits = 43;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const form = new RegExp(`^${prefix}[0-9A-Za-z]{${digits}}$`);

/** Creates a key of 256 random bits, and the entry with which the server accepts the key. */
export const createAccessKey = (name: string, allowed: readonly Scope[]): { key: string; entry: AccessKey } => {
  const key = `${prefix}${toBase62(randomBytes(32))}`;
  return { key, entry: { name, sha256: hash(key), scopes: [...allowed] } };
};

/** Returns reasons why the keys in the settings cannot be used together, each as a clause. */
export const findKeyProblems = (keys: readonly AccessKey[]): string[] => [
  ...(hasTwice(keys.map(({ name }) => name)) ? ['each key needs a different name'] : []),
  ...(hasTwice(keys.map(({ sha256 }) => sha256)) ? ['each key needs a different hash'] : []),
];

/** Accepted key, with the time at which this process first knew the key and the time of its last use. */
export interface KnownKey extends AccessKey {
  use: KeyUse;
}

/** Use of a key. While the process runs, all entries of the key share it. Times are Unix milliseconds. */
interface KeyUse {
  /** Time when this process first knew the key. */
  since: number;
  /** Time of the last use. 0 for never. */
  last: number;
}

export type AccessKeys = ReturnType<typeof createAccessKeys>;

/**
 * Manages the accepted keys: keys from the settings, and runtime keys. A key from the settings wins over a runtime key
 * of the same name. `listRuntime` is first called when a key is looked up.
 */
export const createAccessKeys = (
  configured: readonly AccessKey[],
  listRuntime: () => readonly AccessKey[] = () => [],
) => {
  let ofSettings = configured;
  /**
   * Keys by hash. Clients cannot choose the hash of the key that they send, so lookup times reveal nothing about other
   * keys.
   */
  let known: ReadonlyMap<string, KnownKey> | undefined;
  const uses = new Map<string, KeyUse>();
  let hasHadKeys = false;
  const toKnown = ({ name, sha256, scopes: allowed }: AccessKey): KnownKey => {
    const use = uses.get(sha256) ?? { since: Date.now(), last: 0 };
    uses.set(sha256, use);
    return { name, sha256, scopes: allowed, use };
  };
  const refresh = (): ReadonlyMap<string, KnownKey> => {
    const names = new Set(ofSettings.map(({ name }) => name));
    const all = [...listRuntime().filter(({ name }) => !names.has(name)), ...ofSettings].map(toKnown);
    const byHash = new Map(all.map((key) => [key.sha256, key]));
    for (const sha256 of uses.keys()) if (!byHash.has(sha256)) uses.delete(sha256);
    hasHadKeys ||= byHash.size > 0;
    known = byHash;
    return byHash;
  };
  const read = (): ReadonlyMap<string, KnownKey> => known ?? refresh();
  return {
    /** Replaces all keys from the settings. */
    load: (changed: readonly AccessKey[]): void => {
      ofSettings = changed;
      refresh();
    },
    /** Reads the runtime keys again. */
    refresh: (): void => void refresh(),
    list: (): KnownKey[] => [...read().values()],
    /** Keys from the settings. */
    listConfigured: (): readonly AccessKey[] => ofSettings,
    /** Returns the accepted key with this hash. */
    findByHash: (sha256: string): KnownKey | undefined => read().get(sha256),
    /** Returns the key with this text and counts its use. Undefined if the text is not a known key. */
    find: (text: string): KnownKey | undefined => {
      if (!text.startsWith(prefix)) return undefined;
      const found = read().get(hash(text));
      if (found) found.use.last = Date.now();
      return found;
    },
    /**
     * True if a string has the form of a key. A server that never had keys treats such a string as a malformed token.
     */
    isKeyLike: (text: string): boolean => hasHadKeys && form.test(text),
  };
};

const hash = (key: string): string => createHash('sha256').update(key).digest('hex');

const hasTwice = (values: readonly string[]): boolean => new Set(values).size < values.length;

const toBase62 = (bytes: Buffer): string => {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  while (text.length < digits) {
    text = `${alphabet[Number(rest % 62n)]}${text}`;
    rest /= 62n;
  }
  return text;
};
