import type { FastifyInstance } from 'fastify';

/** Milliseconds between looks for connections that have become idle. */
const interval = 50;

/** Milliseconds after which requests that still run are cut off, so that the rest of the end has time. */
const patience = 8000;

/**
 * Ends connections once the app closes: idle ones at once, busy ones when their request is answered. Without it a
 * client that keeps its connection would hold up the end until the keep-alive timeout.
 */
export const closeConnections = (app: FastifyInstance): void => {
  const timers: NodeJS.Timeout[] = [];
  app.addHook('preClose', async () => {
    timers.push(setInterval(() => app.server.closeIdleConnections(), interval));
    timers.push(setTimeout(() => app.server.closeAllConnections(), patience));
  });
  app.addHook('onClose', async () => timers.forEach(clearTimeout));
};
