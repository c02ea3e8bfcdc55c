import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { HttpError } from '../response/errors.ts';

interface Load {
  /** Whether the connection is one more than there may be. */
  isExtra: (socket: Socket) => boolean;
  /** Whether the program is too far behind with its work. */
  isLagging: () => boolean;
}

/** Routes by which people and their tools see whether the service works: also, and above all, when it has too much to do. */
const vital = /\/(?:health|ready)$/;

export const isVital = (path: string): boolean => vital.test(path);

/** Refuses requests with 503 while there are too many of them; call it before routes are added. */
export const shedLoad = (app: FastifyInstance, { isExtra, isLagging }: Load): void => {
  app.addHook('onRequest', (request, reply, done) => {
    const isOnExtra = isExtra(request.raw.socket);
    if (!isOnExtra && !isLagging()) return done();
    if (isOnExtra) reply.header('Connection', 'close');
    if (isVital(request.routeOptions.url ?? '')) return done();
    done(createBusyError());
  });
};

/** Told to whoever comes while there is too much to do; what has not been acted on may be tried again. */
export const createBusyError = (): HttpError =>
  new HttpError('unavailable', 'The server has too much to do; try again in a second', {
    headers: { 'Retry-After': '1' },
  });
