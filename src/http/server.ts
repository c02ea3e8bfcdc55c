import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { createMeters, type Meters } from '../metrics/meters.ts';
import { createBusyError, createLagProbe } from './admission/overload.ts';
import { createClientErrorHandler, refuseConnect } from './connection/client-errors.ts';
import { Connections } from './connection/connections.ts';
import { endStalled } from './connection/idle-timeout.ts';
import { fastifyLimits, type Limits, maximumHeaderLines, toNodeOptions, toPatience } from './connection/limits.ts';
import { type Certificate, toTlsOptions } from './connection/tls.ts';
import { type ListenerOptions, listenWith } from './listener.ts';
import { acceptBodies } from './request/json-body.ts';
import { toLoggedPath } from './request/logged-path.ts';
import { convertQueries } from './request/query.ts';
import { toTrace } from './request/traceparent.ts';
import { buildValidator, toRefusal } from './request/validation.ts';
import { createCommonHeaders, createResponseClass } from './response/common-headers.ts';
import { sendError } from './response/error-response.ts';
import { buildSerializer, responses } from './response/json.ts';
import { createTimings } from './response/timing.ts';
import { answerUnknownRoutes } from './routes/not-found.ts';

export interface ServerOptions extends Limits, Pick<ListenerOptions, 'host' | 'machine' | 'allowedHosts' | 'cors'> {
  log: FastifyBaseLogger;
  /** Addresses and blocks of proxies whose X-Forwarded-For is trusted. */
  trustProxy: readonly string[];
  /** Without it, the server speaks plain HTTP. */
  certificate?: Certificate | undefined;
  /** Named in every response, if several instances share a database. */
  instance?: string | undefined;
  meters?: Meters;
}

/** A Fastify app with everything that routes share, but without routes. It is not listening yet. */
export const createServer = (options: ServerOptions): FastifyInstance => {
  const { log, certificate, meters = createMeters() } = options;
  const secure = certificate !== undefined;
  const common = createCommonHeaders({ cors: options.cors, secure, instance: options.instance });
  const server = createNodeServer(options, createResponseClass(common));
  const connections = new Connections(server, options.maxConnections);
  const delays = meters
    .histogram(
      'signalbox_event_loop_delay_seconds',
      'Delay of the event loop while there are requests, measured ten times a second.',
      [],
      [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
    )
    .at();
  const isLagging = createLagProbe(server, options.maxEventLoopDelay, delays);
  refuseConnect(server, connections, common);
  endStalled(server, connections, toPatience(options));
  const timings = createTimings(meters);
  const respondToError = (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    timings.noteError(error, reply);
    sendError(error, request, reply, log);
  };
  const app = Fastify({
    ...fastifyLimits,
    serverFactory: (route) => {
      listenWith(server, route, { ...options, secure, connections, isLagging, timings });
      return server;
    },
    clientErrorHandler: createClientErrorHandler(connections, common),
    trustProxy: options.trustProxy.length > 0 && [...options.trustProxy],
    schemaController: { compilersFactory: { buildValidator, buildSerializer } },
    schemaErrorFormatter: (errors) => toRefusal(errors),
    // A path that cannot be decoded has no route and therefore no error handler.
    frameworkErrors: respondToError,
  });
  app.decorate(responses, connections);
  app.setErrorHandler(respondToError);
  timings.timeRoutes(app);
  app.addHook('preClose', async () => connections.end(server));
  answerUnknownRoutes(app);
  acceptBodies(app, {
    beforeReading: (request) => connections.sendContinue(request),
    findRefusal: () => (isLagging() ? createBusyError('event_loop_delay') : undefined),
  });
  convertQueries(app);
  if (log.level === 'debug' || log.level === 'trace') logRequests(app, log);
  return app;
};

const createNodeServer = (
  options: ServerOptions,
  ServerResponseClass: typeof ServerResponse<IncomingMessage>,
): Server => {
  const node = { ...toNodeOptions(options), ServerResponse: ServerResponseClass };
  const server: Server = options.certificate
    ? createHttpsServer({ ...node, allowHalfOpen: true, ...toTlsOptions(options.certificate) })
    : createHttpServer(node);
  // One more than allowed, to detect requests with too many.
  server.maxHeadersCount = maximumHeaderLines + 1;
  // A client that closes its sending side after the request still gets the response.
  return Object.assign(server, { httpAllowHalfOpen: true });
};

/** One line for each request, at level debug: at info, a busy server would log little else. */
const logRequests = (app: FastifyInstance, log: FastifyBaseLogger): void => {
  app.addHook('onResponse', async ({ method, url, ip, id, headers }, reply) => {
    const { statusCode: status, elapsedTime } = reply;
    const ms = Math.round(elapsedTime * 1000) / 1000;
    log.debug({ reqId: id, method, path: toLoggedPath(url), ip, status, ms, ...toTrace(headers) }, 'request');
  });
};
