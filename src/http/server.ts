import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { createMeters, type Meters } from '../metrics/meters.ts';
import { type Check, createHostCheck } from './admission.ts';
import { acceptBodies } from './body.ts';
import { Connections, endStalled } from './connections.ts';
import { sendError } from './error-response.ts';
import { buildSerializer, responses } from './json.ts';
import { fastifyLimits, type Limits, maximumHeaderLines, toNodeOptions, toPatience } from './limits.ts';
import { type Certificate, createProxyCheck, toTlsOptions } from './listen.ts';
import { type ListenerOptions, listenWith } from './listener.ts';
import { answerUnknownRoutes } from './not-found.ts';
import { createBusyError, createLagProbe } from './overload.ts';
import { createClientErrorHandler, refuseConnect } from './parser-errors.ts';
import { toLoggedPath, toTrace } from './request-headers.ts';
import { createCommonHeaders, createResponseClass, createTimings } from './response.ts';
import { buildValidator, convertQueries, toValidationRefusal } from './validation.ts';

/** Who may reach the server, which can change while it runs. */
interface Admission {
  /** Host names that requests may use. */
  allowedHosts: readonly string[];
  /** Addresses and blocks of proxies whose X-Forwarded-For is trusted. */
  trustProxy: readonly string[];
}

export interface ServerOptions extends Admission, Limits, Pick<ListenerOptions, 'cors'> {
  /** The address that the server is bound to. */
  host: string;
  /** This machine's name. */
  machine: string;
  log: FastifyBaseLogger;
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
  const { host: boundTo, machine } = options;
  const createChecks = ({ allowedHosts, trustProxy }: Admission) => ({
    checkHost: createHostCheck({ boundTo, machine, allowed: allowedHosts }),
    isProxy: createProxyCheck(trustProxy),
  });
  let checks = createChecks(options);
  const isProxy = (address: string | undefined): boolean => checks.isProxy(address);
  const connections = new Connections(server, options.maxConnections, isProxy);
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
      const checkHost: Check = (request) => checks.checkHost(request);
      listenWith(server, route, { cors: options.cors, secure, checkHost, connections, isLagging, timings });
      return server;
    },
    clientErrorHandler: createClientErrorHandler(connections, common),
    trustProxy: isProxy,
    schemaController: { compilersFactory: { buildValidator, buildSerializer } },
    schemaErrorFormatter: (errors) => toValidationRefusal(errors),
    // A path that cannot be decoded has no route and therefore no error handler.
    frameworkErrors: respondToError,
  });
  app.decorate(responses, connections);
  app.decorate(admission, (changed: Admission): void => {
    checks = createChecks(changed);
  });
  app.setErrorHandler(respondToError);
  timings.timeRoutes(app);
  logRequests(app, log);
  app.addHook('preClose', async () => connections.end(server));
  answerUnknownRoutes(app);
  acceptBodies(app, {
    beforeReading: (request) => connections.sendContinue(request),
    findRefusal: () => (isLagging() ? createBusyError('event_loop_delay') : undefined),
  });
  convertQueries(app);
  return app;
};

const admission = 'admission';

/** Changes who may reach a server of `createServer`, from the next request on. */
export const changeAdmission = (app: FastifyInstance, changed: Admission): void =>
  app.getDecorator<(changed: Admission) => void>(admission)(changed);

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

/**
 * One line for each request, at level debug: at info, a busy server would log little else. The level can change while the server
 * runs; a hook for responses would slow down all of them.
 */
const logRequests = (app: FastifyInstance, log: FastifyBaseLogger): void => {
  app.addHook('onRequest', (request, reply, done) => {
    if (log.level === 'debug' || log.level === 'trace') reply.raw.once('close', () => logRequest(log, request, reply));
    done();
  });
};

const logRequest = (log: FastifyBaseLogger, request: FastifyRequest, reply: FastifyReply): void => {
  const { method, url, ip, id, headers } = request;
  const { statusCode: status, elapsedTime } = reply;
  const ms = Math.round(elapsedTime * 1000) / 1000;
  log.debug({ reqId: id, method, path: toLoggedPath(url), ip, status, ms, ...toTrace(headers) }, 'request');
};
