import { hash, verify } from '@node-rs/argon2';

/** Longest password in bytes that is hashed at all, so that a login cannot be made expensive. */
export const maximumPasswordBytes = 128;

/** The password as an argon2id hash in PHC form (RFC 9106), with the library's defaults: 19 MiB, 2 passes. */
export const hashPassword = (password: string): Promise<string> => hash(password);

/** Whether a password can be anybody's: it is not empty, and not too long to have been hashed. */
export const isPossiblePassword = (password: string): boolean =>
  password !== '' && Buffer.byteLength(password) <= maximumPasswordBytes;

/** Whether the password, a possible one, belongs to the hash. */
export const isPassword = (password: string, passwordHash: string): Promise<boolean> =>
  verify(passwordHash, password);
