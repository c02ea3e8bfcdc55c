import * as crypto from 'node:crypto';

/** Maximum size in bytes of a password. Hashing longer passwords would make logins expensive. */
export const maximumPasswordBytes = 128;

/**
 * Maximum cost of checking a password: 256 MiB of memory, and 1 GiB for memory times passes. Such a check takes
 * seconds. RFC 9106, section 4, recommends either 64 MiB with 3 passes or 2 GiB. The latter is too much for a server
 * that checks two passwords at once.
 */
const maximum = { memory: 256 * 1024, work: 1024 * 1024, lanes: 16 };

/** Minimum length of salt and hash in bytes (RFC 9106, 3.1). */
const minimum = { salt: 8, hash: 4 };

/** Hashes a password with argon2id: PHC form (RFC 9106), 19 MiB, 2 passes. */
export const hashPassword = async (password: string): Promise<string> => (await loadHashing()).hash(password);

/** True if the password is not empty and not too long to be hashed. */
export const isPossiblePassword = (password: string): boolean =>
  password !== '' && Buffer.byteLength(password) <= maximumPasswordBytes;

/** True if the password matches the hash. Requires a password for which `isPossiblePassword` is true. */
export const isPassword = async (password: string, passwordHash: string): Promise<boolean> =>
  (await loadHashing()).verify(passwordHash, password);

/**
 * Returns the reason why an argon2id hash in PHC form cannot be used, as a clause: `asks for ...`. Undefined if the
 * hash can be used. `passwordHash` has the form `$argon2id$v=19$m=KIBIBYTES,t=PASSES,p=LANES$SALT$HASH`.
 */
export const findHashProblem = (passwordHash: string): string | undefined => {
  const [, , , parameters = '', salt = '', hashed = ''] = passwordHash.split('$');
  const [memory = 0, passes = 0, lanes = 0] = parameters.split(',').map((text) => Number(text.slice(2)));
  if (memory < 8 * lanes || passes < 1 || lanes < 1)
    return 'has less memory (m), fewer passes (t) or fewer lanes (p) than argon2 requires';
  if (lanes > maximum.lanes) return `has more than ${maximum.lanes} lanes (p)`;
  if (memory > maximum.memory) return `has more than ${maximum.memory} KiB of memory (m)`;
  if (memory * passes > maximum.work) return `requires too much work: m times t exceeds ${maximum.work}`;
  if (toBytes(salt) < minimum.salt) return `has a salt of fewer than ${minimum.salt} bytes`;
  return toBytes(hashed) < minimum.hash ? `has a hash of fewer than ${minimum.hash} bytes` : undefined;
};

const toBytes = (base64: string): number => Buffer.from(base64, 'base64').length;

interface Parameters {
  message: Buffer;
  nonce: Buffer;
  parallelism: number;
  tagLength: number;
  /** In KiB. */
  memory: number;
  passes: number;
}

/** `crypto.argon2`, available since Node 24.7. */
type Argon2 = (algorithm: string, parameters: Parameters, callback: (error: Error | null, tag: Buffer) => void) => void;

/** Hashes and verifies passwords. A hash is text in PHC form, e.g. `$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH`. */
interface PasswordHashing {
  hash(password: string): Promise<string>;
  verify(passwordHash: string, password: string): Promise<boolean>;
}

/** Defaults of @node-rs/argon2, used so that hashes are the same in every version of Node. */
const defaults = { parallelism: 1, tagLength: 32, memory: 19 * 1024, passes: 2 };
const saltLength = 16;

/**
 * Creates password hashing with Node's own argon2. `verify` rejects if the given text is not a hash of argon2 version
 * 1.3.
 */
export const createHashing = (derive: Argon2): PasswordHashing => {
  const compute = (algorithm: string, parameters: Parameters): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      derive(algorithm, parameters, (error, tag) => (error ? reject(error) : resolve(tag)));
    });
  return {
    hash: async (password) => {
      const nonce = crypto.randomBytes(saltLength);
      const tag = await compute('argon2id', { ...defaults, message: Buffer.from(password), nonce });
      const { memory, passes, parallelism } = defaults;
      return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(nonce)}$${encode(tag)}`;
    },
    verify: async (passwordHash, password) => {
      const { algorithm, tag, ...cost } = parse(passwordHash);
      const found = await compute(algorithm, { ...cost, tagLength: tag.length, message: Buffer.from(password) });
      return crypto.timingSafeEqual(found, tag);
    },
  };
};

const form = /^\$(argon2(?:id|i|d))\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

const parse = (passwordHash: string) => {
  const [, algorithm, memory, passes, parallelism, salt, tag] = form.exec(passwordHash) ?? [];
  if (algorithm === undefined || salt === undefined || tag === undefined) throw new Error('not an argon2 hash');
  return {
    algorithm,
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    nonce: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
};

/** Encodes base64 without padding. */
const encode = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/** Node's own argon2. Undefined if this version of Node lacks it. */
export const argon2: Argon2 | undefined = (crypto as { argon2?: Argon2 }).argon2;

const builtIn = argon2 && createHashing(argon2);

/** Loads password hashing: Node's own argon2 if available, otherwise @node-rs/argon2. */
export const loadHashing = async (): Promise<PasswordHashing> => builtIn ?? import('@node-rs/argon2');
