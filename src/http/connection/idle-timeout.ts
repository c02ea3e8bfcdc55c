import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { type Connection, type Connections, isRunning } from './connections.ts';
import { type Patience, unreadResponseBytes } from './limits.ts';

/** Milliseconds between checks. */
const interval = 1000;

/** How far a connection has come; times in milliseconds. */
export interface Progress {
  /** Bytes that came in, and bytes that the system has taken to send. */
  read: number;
  taken: number;
  /** Whether there is more to send. */
  isWaiting: boolean;
  /** When it was first seen that this much was taken while more waited. */
  stuckSince: number;
  /** When it was first seen that this much had been read and taken, and nothing ran. */
  silentSince: number;
}

/** The state of a connection now, from its socket and the state at the check before. */
export const toProgress = (
  { bytesRead: read, bytesWritten, writableLength }: Pick<Socket, 'bytesRead' | 'bytesWritten' | 'writableLength'>,
  isBusy: boolean,
  before: Progress | undefined,
  now: number,
): Progress => {
  const taken = bytesWritten - writableLength;
  const isWaiting = writableLength > 0;
  const isStuck = before?.isWaiting && isWaiting && before.taken === taken;
  const isSilent = !isBusy && before?.read === read && before.taken === taken;
  return {
    read,
    taken,
    isWaiting,
    stuckSince: isStuck ? before.stuckSince : now,
    silentSince: isSilent ? before.silentSince : now,
  };
};

/** Whether the client has read nothing, or nothing has happened at all, for longer than it may. */
export const isStalled = (
  { isWaiting, stuckSince, silentSince }: Progress,
  { reading, silence }: Patience,
  now: number,
): boolean => (isWaiting && now - stuckSince > reading) || now - silentSince > silence;

/**
 * Ends connections that stand still. While the responses that wait for readers take more than their budget, clients that
 * read nothing for a second lose their connection, too. Node's own timeout would take twice its time, and the system
 * would keep what it holds for such a client; a reset discards it.
 */
export const endStalled = (server: Server, connections: Connections, patience: Patience): void => {
  const known = new WeakMap<Connection, Progress>();
  const check = (): void => {
    const now = performance.now();
    const isFull = connections.countUnread() > unreadResponseBytes;
    for (const connection of connections.values()) {
      // A response that waits for its reader is not work.
      const isBusy = isRunning(connection) && connection.socket.writableLength === 0;
      const progress = toProgress(connection.socket, isBusy, known.get(connection), now);
      known.set(connection, progress);
      const reading = isFull ? Math.min(patience.reading, interval / 2) : patience.reading;
      if (isStalled(progress, { ...patience, reading }, now)) reset(connection.socket);
    }
  };
  const timer = setInterval(check, interval).unref();
  server.once('close', () => clearInterval(timer));
};

/** Only a plain TCP socket can be reset. */
const reset = (socket: Socket): void => void ('encrypted' in socket ? socket.destroy() : socket.resetAndDestroy());
