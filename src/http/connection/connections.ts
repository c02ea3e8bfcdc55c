import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { cutStalled } from './idle-timeout.ts';

/** Connections beyond the limit that are told so; what comes on top of them is closed at once. */
const spare = 100;

/** Milliseconds between looks for connections that have become idle. */
const interval = 50;

/** Milliseconds after which requests that still run are cut off, so that the rest of the end has time. */
const patience = 8000;

interface Bounds {
  /** Connections that are served at a time. */
  maxConnections: number;
  /** Seconds in which a client has to take something of an answer. */
  requestTimeout: number;
}

/**
 * Counts connections, and ends them where nothing moves, and once the app closes: idle and silent ones at
 * once, busy ones when their request is answered. Without it a client that keeps its connection would hold up the end
 * until a timeout. The function returned says whether a connection is one more than there may be.
 */
export const boundConnections = (
  app: FastifyInstance,
  { maxConnections, requestTimeout }: Bounds,
): ((socket: Socket) => boolean) => {
  const { server } = app;
  const accepted = new Set<Socket>();
  // With TLS the socket that requests come on is another than the accepted one.
  const speaking = server instanceof TlsServer ? new Set<Socket>() : accepted;
  const extra = new Set<Socket>();
  server.maxConnections = maxConnections + spare;
  server.on('connection', (socket) => keep(accepted, socket));
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket) => {
    keep(speaking, socket);
    if (accepted.size > maxConnections) keep(extra, socket);
  });
  cutStalled(app, speaking, { answer: requestTimeout * 1000 });
  closeWith(app, accepted, speaking);
  return (socket) => extra.size > 0 && extra.has(socket);
};

const keep = (sockets: Set<Socket>, socket: Socket): void => {
  if (sockets.has(socket)) return;
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
};

const closeWith = (app: FastifyInstance, accepted: Set<Socket>, speaking: Set<Socket>): void => {
  const timers: NodeJS.Timeout[] = [];
  const endIdle = (): void => {
    app.server.closeIdleConnections();
    // Node counts those on which no byte has come yet, as browsers open them in advance, as busy.
    for (const socket of [...accepted, ...speaking]) if (socket.bytesRead === 0) socket.destroy();
  };
  app.addHook('preClose', async () => {
    endIdle();
    timers.push(setInterval(endIdle, interval));
    timers.push(setTimeout(() => accepted.forEach((socket) => void socket.destroy()), patience));
  });
  app.addHook('onClose', async () => timers.forEach(clearTimeout));
};
