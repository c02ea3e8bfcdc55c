import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { acceptJsonBodies } from './body.ts';
import { createClientErrorHandler } from './client-error.ts';
import { closeConnections } from './closing.ts';
import { allowCrossOrigin, corsHeaders, refuseCrossOrigin } from './cors.ts';
import { handleErrors, sendError } from './errors.ts';
import { guardHost } from './host-guard.ts';
import { toLoggedPath } from './log-path.ts';
import { convertQueries } from './query.ts';
import { answerUnknownRoutes } from './unknown-route.ts';
import { toRefusal } from './validation.ts';

export interface ServerOptions {
  log: FastifyBaseLogger;
  /** The address it will be bound to, and the names it answers to. */
  host: string;
  machine: string;
  allowedHosts: readonly string[];
  cors: boolean;
}

/** Largest request body in bytes. */
const bodyLimit = 1024 * 1024;

/** A Fastify app with everything that routes share, and no routes. It does not listen. */
export const createServer = ({ log, host, machine, allowedHosts, cors }: ServerOptions): FastifyInstance => {
  // For what is answered before any hook has run.
  const alwaysHeaders = cors ? corsHeaders : {};
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // A connection that is open when the end begins is still served, then closed.
    return503OnClosing: false,
    bodyLimit,
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    keepAliveTimeout: 10_000,
    forceCloseConnections: 'idle',
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 1000, requireHostHeader: false },
    // An id of any length is answered as an id; Node bounds the whole request line at 16 KiB.
    routerOptions: { maxParamLength: 16 * 1024 },
    ajv: {
      customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: true, allErrors: true },
    },
    schemaErrorFormatter: (errors) => toRefusal(errors),
    frameworkErrors: (error, request, reply) => sendError(error, request, reply.headers(alwaysHeaders)),
    clientErrorHandler: createClientErrorHandler(alwaysHeaders),
  });
  handleErrors(app);
  (cors ? allowCrossOrigin : refuseCrossOrigin)(app);
  guardHost(app, { boundTo: host, machine, allowed: allowedHosts });
  answerUnknownRoutes(app);
  acceptJsonBodies(app);
  convertQueries(app);
  logRequests(app);
  closeConnections(app);
  return app;
};

/** One line for each request, at debug: at info a busy service would write little else. */
const logRequests = (app: FastifyInstance): void => {
  if (app.log.level !== 'debug' && app.log.level !== 'trace') return;
  app.addHook('onResponse', async ({ log, method, url, ip }, reply) => {
    log.debug(
      { method, path: toLoggedPath(url), ip, status: reply.statusCode, ms: reply.elapsedTime },
      'request',
    );
  });
};
