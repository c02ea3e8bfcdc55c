import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Milliseconds between looks. */
const interval = 1000;

/** How long a connection may stand still, in milliseconds. */
interface Patience {
  /** While its client takes nothing of an answer. */
  answer: number;
  /**
   * Whatever it waits for. Node's own timer for it would be set anew for each request and each answer, which is 1.1 µs of
   * some 17.
   */
  silence?: number;
}

/** How far a connection has come; times in milliseconds. */
export interface Progress {
  /** Bytes that came in, and bytes that the system has taken to send. */
  read: number;
  taken: number;
  /** Whether there is more to send. */
  isWaiting: boolean;
  /** When it was first seen that so much was taken while more waited. */
  since: number;
  /** When it was first seen that so much had been read and taken. */
  silentSince: number;
}

/** What is known now, from what was known before. */
export const toProgress = (
  {
    bytesRead: read,
    bytesWritten,
    writableLength,
  }: Pick<Socket, 'bytesRead' | 'bytesWritten' | 'writableLength'>,
  before: Progress | undefined,
  now: number,
): Progress => {
  const taken = bytesWritten - writableLength;
  const isWaiting = writableLength > 0;
  const isStuck = before?.isWaiting && isWaiting && before.taken === taken;
  const isSilent = before?.read === read && before.taken === taken;
  return {
    read,
    taken,
    isWaiting,
    since: isStuck ? before.since : now,
    silentSince: isSilent ? before.silentSince : now,
  };
};

/** Whether its client takes nothing, or nothing moves at all, for longer than it may. */
export const isStalled = (
  { isWaiting, since, silentSince }: Progress,
  { answer, silence = 60_000 }: Patience,
  now: number,
): boolean => (isWaiting && now - since > answer) || now - silentSince > silence;

/**
 * Ends connections that are stalled. For a client that takes nothing Node's own timeout takes twice its time, and the
 * system would keep what it holds for such a client: it is thrown away with a reset.
 */
export const cutStalled = (app: FastifyInstance, sockets: ReadonlySet<Socket>, patience: Patience): void => {
  const known = new WeakMap<Socket, Progress>();
  const look = (): void => {
    const now = performance.now();
    for (const socket of sockets) {
      const progress = toProgress(socket, known.get(socket), now);
      known.set(socket, progress);
      if (isStalled(progress, patience, now)) cut(socket);
    }
  };
  const timer = setInterval(look, interval).unref();
  app.addHook('onClose', async () => clearInterval(timer));
};

/** Only a bare TCP socket can be reset. */
const cut = (socket: Socket): void =>
  void ('encrypted' in socket ? socket.destroy() : socket.resetAndDestroy());
