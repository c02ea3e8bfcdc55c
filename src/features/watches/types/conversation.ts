import type { Socket } from 'node:net';
import { toNetworkFailure } from './failures.ts';

/** Maximum number of bytes that a server may send. Normal answers have a few hundred. */
const maxBytes = 1024 * 1024;

/** Milliseconds between two counts of the bytes. */
const countMs = 50;

/** Error that the server reports, such as a wrong password. */
export class ServerError extends Error {}

/**
 * Runs a conversation over an open socket. Closes the socket at the end, or if too much data arrives. Rejects with a
 * ServerError, or with an Error whose message says why there is no answer.
 */
export const converse = async <T>(socket: Socket, talk: () => Promise<T>, signal: AbortSignal): Promise<T> => {
  let isTooMuch = false;
  const timer = setInterval(() => {
    isTooMuch = socket.bytesRead > maxBytes;
    if (isTooMuch) socket.destroy();
  }, countMs);
  const closed = new Promise<never>((_resolve, reject) => {
    const close = (): void => reject(new Error('the connection was closed'));
    socket.once('error', reject).once('close', close);
    if (socket.destroyed) close();
  });
  try {
    return await Promise.race([closed, talk()]);
  } catch (error) {
    if (error instanceof ServerError) throw error;
    throw isTooMuch ? new Error('the server sends too much data') : toNetworkFailure(error as Error, signal);
  } finally {
    clearInterval(timer);
    socket.destroy();
  }
};
