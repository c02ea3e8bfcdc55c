import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { type Connection, type Connections, isRunning } from './connections.ts';
import { type Patience, unreadResponseBytes } from './limits.ts';

/** Milliseconds between checks. */
const interval = 1000;

/** The progress of a connection; times in milliseconds. */
export interface Progress {
  /** Bytes received, and bytes handed to the operating system. */
  read: number;
  taken: number;
  /** Whether there is more to send. */
  isWaiting: boolean;
  /** Since when the system has taken no bytes although more are waiting. */
  stuckSince: number;
  /** Since when nothing has been received, taken or running. */
  silentSince: number;
}

/** The current progress, from the socket and the progress at the previous check. */
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

/** True if the client has read nothing, or nothing has happened at all, for longer than allowed. */
export const isStalled = (
  { isWaiting, stuckSince, silentSince }: Progress,
  { reading, silence }: Patience,
  now: number,
): boolean => (isWaiting && now - stuckSince > reading) || now - silentSince > silence;

/**
 * Closes stalled connections. While unread responses exceed their budget, clients that read nothing for a second are
 * disconnected too. Node's own timeout would take twice as long, and the system would keep its send buffer; a reset
 * discards it.
 */
export const endStalled = (server: Server, connections: Connections, patience: Patience): void => {
  let timer: NodeJS.Timeout | undefined;
  const known = new WeakMap<Connection, Progress>();
  const check = (): void => {
    if (connections.size === 0) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    const now = performance.now();
    const isFull = connections.countUnread() > unreadResponseBytes;
    for (const connection of connections.values()) {
      // Waiting for the client to read is not work.
      const isBusy = isRunning(connection) && connection.socket.writableLength === 0;
      const progress = toProgress(connection.socket, isBusy, known.get(connection), now);
      known.set(connection, progress);
      const reading = isFull ? Math.min(patience.reading, interval / 2) : patience.reading;
      if (isStalled(progress, { ...patience, reading }, now)) reset(connection.socket);
    }
  };
  // An idle server does not wake up for it.
  for (const event of ['connection', 'secureConnection']) {
    server.on(event, () => {
      timer ??= setInterval(check, interval).unref();
    });
  }
  server.once('close', () => clearInterval(timer));
};

/** Only a plain TCP socket can be reset. */
const reset = (socket: Socket): void => void ('encrypted' in socket ? socket.destroy() : socket.resetAndDestroy());
