import * as crypto from 'node:crypto';

interface Parameters {
  message: Buffer;
  nonce: Buffer;
  parallelism: number;
  tagLength: number;
  /** In KiB. */
  memory: number;
  passes: number;
}

/** `crypto.argon2`, which Node has from 24.7 on. */
export type Argon2 = (
  algorithm: string,
  parameters: Parameters,
  callback: (error: Error | null, tag: Buffer) => void,
) => void;

/** Hashes and verifies passwords; hashes are text in PHC form, e.g. `$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH`. */
export interface PasswordHashing {
  hash(password: string): Promise<string>;
  verify(passwordHash: string, password: string): Promise<boolean>;
}

/** The defaults of @node-rs/argon2, so that hashes are the same with every version of Node. */
const defaults = { parallelism: 1, tagLength: 32, memory: 19 * 1024, passes: 2 };
const saltLength = 16;

/** Password hashing with Node's own argon2. `verify` rejects if the text is not a hash of argon2 version 1.3. */
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
    ...{ memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    nonce: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
};

/** Base64 without padding. */
const encode = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/** Node's own argon2; undefined if this version of Node has none. */
export const argon2: Argon2 | undefined = (crypto as { argon2?: Argon2 }).argon2;

const builtIn = argon2 && createHashing(argon2);

/** Password hashing with Node's own argon2 where there is one, else with @node-rs/argon2. */
export const loadHashing = async (): Promise<PasswordHashing> => builtIn ?? import('@node-rs/argon2');
