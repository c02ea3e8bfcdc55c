import { hash, verify } from '@node-rs/argon2';

/** Longest password in bytes that is hashed at all, so that a login cannot be made expensive. */
export const maximumPasswordBytes = 128;

/** The password as an argon2id hash in PHC form (RFC 9106), with the library's defaults: 19 MiB, 2 passes. */
export const hashPassword = (password: string): Promise<string> => hash(password);

/** Whether the password belongs to the hash; false also for a password that is too long to have been hashed. */
export const isPassword = async (password: string, passwordHash: string): Promise<boolean> =>
  Buffer.byteLength(password) <= maximumPasswordBytes && verify(passwordHash, password);
