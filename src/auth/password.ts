import { hash, verify } from '@node-rs/argon2';
import { createTurns } from './turns.ts';

/** Longest password in bytes that is hashed at all, so that a login cannot be made expensive. */
export const maximumPasswordBytes = 128;

/**
 * Hashing runs on the threads that also sync files, of which there are four: more at a time would keep an alert
 * from being acknowledged.
 */
const limits = { running: 2, waiting: 8 };

/** The password as an argon2id hash in PHC form (RFC 9106), with the library's defaults: 19 MiB, 2 passes. */
export const hashPassword = (password: string): Promise<string> => hash(password);

/** Whether the password belongs to the hash; false also for a password that is too long to have been hashed. */
export const isPassword = async (password: string, passwordHash: string): Promise<boolean> =>
  Buffer.byteLength(password) <= maximumPasswordBytes && verify(passwordHash, password);

/** The same check for callers who are many: it throws a BusyError where too many wait for their answer. */
export const createPasswordCheck = (): typeof isPassword => {
  const inTurn = createTurns(limits);
  return (password, passwordHash) => inTurn(() => isPassword(password, passwordHash));
};
