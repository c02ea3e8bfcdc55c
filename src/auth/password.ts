import { loadHashing } from './argon2.ts';

/** Longest password that is hashed, in bytes: hashing longer ones would make logins expensive. */
export const maximumPasswordBytes = 128;

/**
 * Maximum cost of checking a password: 256 MiB of memory, and 1 GiB times passes, which takes seconds. RFC 9106,
 * section 4, recommends 64 MiB with 3 passes, or 2 GiB, which is too much for a server that checks two at a time.
 */
const maximum = { memory: 256 * 1024, work: 1024 * 1024, lanes: 16 };

/** Minimum length of salt and hash in bytes (RFC 9106, 3.1). */
const minimum = { salt: 8, hash: 4 };

/** The password as an argon2id hash in PHC form (RFC 9106), 19 MiB, 2 passes. */
export const hashPassword = async (password: string): Promise<string> => (await loadHashing()).hash(password);

/** True if the password is not empty and not too long to be hashed. */
export const isPossiblePassword = (password: string): boolean =>
  password !== '' && Buffer.byteLength(password) <= maximumPasswordBytes;

/** True if the password matches the hash. Only for passwords that `isPossiblePassword` accepts. */
export const isPassword = async (password: string, passwordHash: string): Promise<boolean> =>
  (await loadHashing()).verify(passwordHash, password);

/**
 * Why an argon2id hash in PHC form cannot be used, as a clause: `asks for ...`; undefined if it can.
 * `passwordHash` is `$argon2id$v=19$m=KIBIBYTES,t=PASSES,p=LANES$SALT$HASH`.
 */
export const findHashProblem = (passwordHash: string): string | undefined => {
  const [, , , parameters = '', salt = '', hashed = ''] = passwordHash.split('$');
  const [memory = 0, passes = 0, lanes = 0] = parameters.split(',').map((text) => Number(text.slice(2)));
  if (memory < 8 * lanes || passes < 1 || lanes < 1)
    return 'asks for less memory (m), passes (t) or lanes (p) than argon2 needs';
  if (lanes > maximum.lanes) return `asks for more than ${maximum.lanes} lanes (p)`;
  if (memory > maximum.memory) return `asks for more than ${maximum.memory} KiB of memory (m)`;
  if (memory * passes > maximum.work) return `asks for too much work: m times t exceeds ${maximum.work}`;
  if (toBytes(salt) < minimum.salt) return `has a salt of fewer than ${minimum.salt} bytes`;
  return toBytes(hashed) < minimum.hash ? `has a hash of fewer than ${minimum.hash} bytes` : undefined;
};

const toBytes = (base64: string): number => Buffer.from(base64, 'base64').length;
