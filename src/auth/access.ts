import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Static } from 'typebox';
import Type from 'typebox';

/** Who may call a route: everyone, holders of a valid token, or holders of one with role Admin. */
export type Access = 'open' | 'token' | 'admin';

/** What a key may be used for. */
export const scopes = [
  'alerts:write',
  'alerts:read',
  'metrics:read',
  'incidents:write',
  'incidents:read',
  'heartbeats:write',
] as const;
export type Scope = (typeof scopes)[number];

/** Scopes that come with another one: who acts on incidents reads them, and their alerts. */
const included: Partial<Record<Scope, readonly Scope[]>> = { 'incidents:write': ['incidents:read', 'alerts:read'] };

/** What the setting `access` can say of one profile. */
const levels = ['open', 'login', 'admin'] as const;
export type AccessLevel = (typeof levels)[number];

/** The setting `access`: one word for all profiles, or a word for each. */
export const AccessSetting = Type.Union(
  [Type.Enum(['contract', 'login']), Type.Record(Type.String(), Type.Enum(levels))],
  {
    default: 'contract',
    description:
      'Who may use the routes: with `contract`, many need no token; with `login`, all but health checks and pages need a token or key. In the file also an object: `open`, `login` or `admin` by profile.',
  },
);
export type AccessSetting = Static<typeof AccessSetting>;

const keyName = {
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$',
  description: 'A name without control characters.',
};

/** True if a key can have the name, which logs and lists show on one line. */
export const isKeyName = (name: string): boolean => name !== '' && new RegExp(keyName.pattern).test(name);

/** An entry of the setting `keys`: only the hash is kept, so the file does not reveal the key. */
export const AccessKey = Type.Object(
  {
    name: Type.String({ minLength: 1, ...keyName }),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'The hash that `signalbox create-key` prints.' }),
    scopes: Type.Array(Type.Enum(scopes), { minItems: 1 }),
  },
  { additionalProperties: false },
);
export type AccessKey = Static<typeof AccessKey>;

/** Begins every key, so that people and scanners of secrets recognize one. */
const prefix = 'sbk_';

/** Digits of 256 bits in base 62. */
const digits = 43;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const form = new RegExp(`^${prefix}[0-9A-Za-z]{${digits}}$`);

/** A new key of 256 random bits, and the entry that makes the server accept it. */
export const createAccessKey = (name: string, allowed: readonly Scope[]): { key: string; entry: AccessKey } => {
  const key = `${prefix}${toBase62(randomBytes(32))}`;
  return { key, entry: { name, sha256: hash(key).toString('hex'), scopes: [...allowed] } };
};

/** Why the keys of the settings cannot be used together, as clauses. */
export const findKeyProblems = (keys: readonly AccessKey[]): string[] => [
  ...(hasTwice(keys.map(({ name }) => name)) ? ['keys must all have different names'] : []),
  ...(hasTwice(keys.map(({ sha256 }) => sha256)) ? ['keys must all have different hashes'] : []),
];

export type AccessKeys = ReturnType<typeof createAccessKeys>;

/** The keys that are accepted. */
export const createAccessKeys = (keys: readonly AccessKey[]) => {
  let known = keys.map(toKnown);
  let hasHadKeys = known.length > 0;
  return {
    /** Replaces all keys. */
    load: (changed: readonly AccessKey[]): void => {
      known = changed.map(toKnown);
      hasHadKeys ||= known.length > 0;
    },
    /** The key that a text is; undefined if it is none. Compares with all, so that the time does not tell which key is near. */
    find: (text: string): Pick<AccessKey, 'name' | 'scopes'> | undefined => {
      if (!text.startsWith(prefix)) return undefined;
      const found = hash(text);
      return known.filter((key) => timingSafeEqual(key.hash, found))[0];
    },
    /** True if a text has the form of a key. A server that never had keys knows none: to it the text is a malformed token. */
    isKeyLike: (text: string): boolean => hasHadKeys && form.test(text),
  };
};

const toKnown = ({ name, sha256, scopes }: AccessKey) => ({
  name,
  hash: Buffer.from(sha256, 'hex'),
  scopes: scopes.flatMap((scope) => [scope, ...(included[scope] ?? [])]),
});

const hash = (key: string): Buffer => createHash('sha256').update(key).digest();

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
