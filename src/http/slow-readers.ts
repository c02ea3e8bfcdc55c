import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Milliseconds between looks. */
const interval = 1000;

/** How far a client has come with what was sent to it. */
export interface Reading {
  /** Bytes that the system has taken, and whether there are more. */
  taken: number;
  isWaiting: boolean;
  /** When that was first seen, in milliseconds. */
  since: number;
}

/** What is known now, from what was known before: time counts from the last byte taken while more wait. */
export const toReading = (
  { bytesWritten, writableLength }: Pick<Socket, 'bytesWritten' | 'writableLength'>,
  before: Reading | undefined,
  now: number,
): Reading => {
  const taken = bytesWritten - writableLength;
  const isWaiting = writableLength > 0;
  return before?.isWaiting && isWaiting && before.taken === taken ? before : { taken, isWaiting, since: now };
};

/**
 * Ends connections whose client takes nothing of an answer for `patience` milliseconds. Node's own timeout takes twice
 * its time there, and the system would keep what it holds for such a client: it is thrown away with a reset.
 */
export const cutSlowReaders = (
  app: FastifyInstance,
  sockets: ReadonlySet<Socket>,
  patience: number,
): void => {
  const readings = new WeakMap<Socket, Reading>();
  const look = (): void => {
    const now = performance.now();
    for (const socket of sockets) {
      const reading = toReading(socket, readings.get(socket), now);
      readings.set(socket, reading);
      if (reading.isWaiting && now - reading.since > patience) cut(socket);
    }
  };
  const timer = setInterval(look, interval).unref();
  app.addHook('onClose', async () => clearInterval(timer));
};

/** Only a bare TCP socket can be reset. */
const cut = (socket: Socket): void =>
  void ('encrypted' in socket ? socket.destroy() : socket.resetAndDestroy());
