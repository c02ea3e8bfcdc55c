import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import { createEntrance } from './admission/admission.ts';
import { createHostGuard } from './admission/allowed-hosts.ts';
import { createFramingGuard } from './admission/framing.ts';
import { createOriginGuard } from './admission/origin.ts';
import { createLagProbe } from './admission/overload.ts';
import { shedLoad } from './admission/shedding.ts';
import { createClientErrorHandler } from './connection/client-errors.ts';
import { boundConnections } from './connection/connections.ts';
import { type Limits, toNodeOptions, toServerLimits } from './connection/limits.ts';
import { answerOddRequests } from './connection/odd-requests.ts';
import { takeOneAtATime } from './connection/pipelining.ts';
import { type Certificate, toTlsOptions } from './connection/tls.ts';
import { answerDirectly } from './direct/direct.ts';
import { acceptJsonBodies, createBodyParser } from './request/json-body.ts';
import { toLoggedPath } from './request/logged-path.ts';
import { convertQueries } from './request/query.ts';
import { toRefusal } from './request/validation.ts';
import { createAlwaysHeaders, type Headers } from './response/common-headers.ts';
import { handleErrors, sendError } from './response/errors.ts';
import { answerUnknownRoutes } from './routes/not-found.ts';

export interface ServerOptions extends Limits {
  log: FastifyBaseLogger;
  /** The address it will be bound to, and the names it answers to. */
  host: string;
  machine: string;
  allowedHosts: readonly string[];
  cors: boolean;
  /** Addresses and blocks of proxies whose word is taken for who the client is. */
  trustProxy: readonly string[];
  /** Without one the server speaks plain HTTP. */
  certificate?: Certificate | undefined;
}

/** A Fastify app with everything that routes share, and no routes. It does not listen. */
export const createServer = (options: ServerOptions): FastifyInstance => {
  const headers = createAlwaysHeaders(options.cors);
  const { enter, isWelcome } = createEntrance({
    headers,
    framing: createFramingGuard(),
    cors: options.cors,
    guards: [
      ...(options.cors ? [] : [createOriginGuard(options.certificate !== undefined)]),
      createHostGuard({ ...options, boundTo: options.host, allowed: options.allowedHosts }),
    ],
  });
  const app = createFastify(options, headers, enter);
  handleErrors(app);
  const isExtra = boundConnections(app, options);
  answerOddRequests(app.server, headers);
  app.addHook('onRequest', (request, reply, done) => {
    if (enter(request, reply)) done();
  });
  const isLagging = createLagProbe(app, options.maxEventLoopDelay);
  shedLoad(app, { isExtra, isLagging });
  answerUnknownRoutes(app);
  const parseBody = createBodyParser(app);
  acceptJsonBodies(app, isLagging, parseBody);
  convertQueries(app);
  if (isVerbose(app)) logRequests(app);
  else
    answerDirectly(app, {
      headers,
      isWelcome,
      isExtra,
      isLagging,
      parseBody,
    });
  takeOneAtATime(app.server);
  return app;
};

const createFastify = (
  { log, trustProxy, certificate, ...limits }: ServerOptions,
  headers: Headers,
  enter: ReturnType<typeof createEntrance>['enter'],
): FastifyInstance => {
  const options: FastifyServerOptions = {
    ...toServerLimits(limits),
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustProxy.length > 0 && [...trustProxy],
    ajv: {
      customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: true, allErrors: true },
    },
    schemaErrorFormatter: (errors) => toRefusal(errors),
    // What has a path that cannot be decoded passes the same entrance, before it is told so.
    frameworkErrors: (error, request, reply) => {
      if (enter(request, reply)) sendError(error, request, reply);
    },
    clientErrorHandler: createClientErrorHandler(headers),
  };
  const http = toNodeOptions(limits);
  // To all but the sockets the two kinds of server are one.
  const protocol: object = certificate ? { https: { ...http, ...toTlsOptions(certificate) } } : { http };
  return Fastify({ ...options, ...protocol });
};

const isVerbose = ({ log: { level } }: FastifyInstance): boolean => level === 'debug' || level === 'trace';

/** One line for each request, at debug: at info a busy service would write little else. */
const logRequests = (app: FastifyInstance): void => {
  app.addHook('onResponse', async ({ log, method, url, ip }, reply) => {
    log.debug(
      { method, path: toLoggedPath(url), ip, status: reply.statusCode, ms: reply.elapsedTime },
      'request',
    );
  });
};
