import { lookup } from 'node:dns/promises';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, BlockList, createServer as createTcpServer, isIP, type Server as TcpServer } from 'node:net';
import { type SecureContextOptions, Server as TlsServer } from 'node:tls';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { createMeters, type Meters } from '../metrics/meters.ts';
import { type Check, createHostCheck, type ListenerOptions, listenWith, maximumHeaderLines } from './admission.ts';
import { acceptBodies } from './body.ts';
import { Connections, endStalled } from './connections.ts';
import { answerUnknownRoutes, createClientErrorHandler, refuseConnect, sendError } from './error-response.ts';
import { buildSerializer, responses } from './json.ts';
import { createBusyError, createLagProbe, findVitalRoutes } from './overload.ts';
import { createCommonHeaders, createResponseClass, createTimings } from './response.ts';
import { toLoggedPath, toTrace } from './text-forms.ts';
import { buildValidator, convertQueries, toValidationRefusal } from './validation.ts';

const second = 1000;
const kibibyte = 1024;

/** Name of the Fastify decorator that changes the admission. */
const admission = 'admission';

/** Rules about which clients may reach the server. They can change at runtime. */
interface Admission {
  /** Host names that requests may use. */
  allowedHosts: readonly string[];
  /** Addresses and blocks of proxies with a trusted X-Forwarded-For. */
  trustProxy: readonly string[];
}

/** Limits from the settings. */
interface ServerLimits {
  /**
   * Seconds within which a whole request must arrive, and seconds for its headers. The first limit also applies to
   * clients that stop reading.
   */
  requestTimeout: number;
  headersTimeout: number;
  /** Maximum number of connections served at a time. */
  maxConnections: number;
  /** Event-loop delay in milliseconds above which new requests are refused. 0 for no limit. */
  maxEventLoopDelay: number;
}

interface ServerOptions extends Admission, ServerLimits, Pick<ListenerOptions, 'cors'> {
  /** Address that the server is bound to. */
  host: string;
  /** Name of this machine. */
  machine: string;
  log: FastifyBaseLogger;
  /** Certificate. Without a certificate, the server speaks plain HTTP. */
  certificate?: Certificate | undefined;
  /** Name of this instance, sent in every response. Set if several instances share a database. */
  instance?: string | undefined;
  meters?: Meters;
}

/** Creates a Fastify app with everything that routes share, but without routes. The app does not listen yet. */
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
      'Delay of the event loop while requests are in progress, measured ten times a second.',
      [],
      [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
    )
    .at();
  const isLagging = createLagProbe(server, options.maxEventLoopDelay, delays);
  refuseConnect(server, connections, common);
  endStalled(server, connections, { reading: options.requestTimeout * second, silence: 60 * second });
  const timings = createTimings(meters);
  const respondToError = (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    timings.noteError(error, reply);
    sendError(error, request, reply, log);
  };
  const app = Fastify({
    // Ids of any length reach their route, because Node limits the length of the whole request line.
    routerOptions: { maxParamLength: 16 * kibibyte },
    // Connections that are open when shutdown begins are still served, then closed.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    serverFactory: (route) => {
      const checkHost: Check = (request) => checks.checkHost(request);
      const { cors } = options;
      const isVital = (request: IncomingMessage): boolean => vital(request);
      listenWith(server, route, { cors, secure, checkHost, connections, isLagging, isVital, timings });
      return server;
    },
    logController: new RequestLog(log),
    clientErrorHandler: createClientErrorHandler(connections, common),
    trustProxy: isProxy,
    schemaController: { compilersFactory: { buildValidator, buildSerializer } },
    schemaErrorFormatter: (errors) => toValidationRefusal(errors),
    // A path that cannot be decoded has no route, and therefore no error handler.
    frameworkErrors: respondToError,
  });
  const vital = findVitalRoutes(app);
  app.decorate(responses, connections);
  app.decorate(admission, (changed: Admission): void => {
    checks = createChecks(changed);
  });
  app.setErrorHandler(respondToError);
  timings.timeRoutes(app);
  app.addHook('preClose', async () => connections.end(server));
  answerUnknownRoutes(app);
  acceptBodies(app, {
    beforeReading: (request) => connections.sendContinue(request),
    findRefusal: () => (isLagging() ? createBusyError('event_loop_delay') : undefined),
  });
  convertQueries(app);
  return app;
};

/** Changes the admission of a server created by `createServer`. Takes effect with the next request. */
export const changeAdmission = (app: FastifyInstance, changed: Admission): void =>
  app.getDecorator<(changed: Admission) => void>(admission)(changed);

/** Creates the Node server. Sets all limits explicitly, so that no variable or flag of Node can loosen them. */
const createNodeServer = (
  { requestTimeout, headersTimeout, certificate }: ServerOptions,
  ResponseClass: typeof ServerResponse<IncomingMessage>,
): Server => {
  const options = {
    ServerResponse: ResponseClass,
    requestTimeout: requestTimeout * second,
    headersTimeout: headersTimeout * second,
    // With TLS, the handshake precedes the headers.
    handshakeTimeout: headersTimeout * second,
    keepAliveTimeout: 10 * second,
    // The timeouts are checked every second, because Node's default of 30 s would be too late.
    connectionsCheckingInterval: second,
    maxHeaderSize: 16 * kibibyte,
    insecureHTTPParser: false,
    // Node's own response to a missing Host has no body.
    requireHostHeader: false,
    // Repeated headers are joined, because Node would drop a second Host.
    joinDuplicateHeaders: true,
  };
  const server: Server = certificate
    ? createHttpsServer({ ...options, allowHalfOpen: true, ...toTlsOptions(certificate) })
    : createHttpServer(options);
  // One line more than allowed, to detect requests with too many lines.
  server.maxHeadersCount = maximumHeaderLines + 1;
  // A client that closes its sending side after the request still gets the response.
  return Object.assign(server, { httpAllowHalfOpen: true });
};

/**
 * Logs one line per request at level debug. At level info, these lines would fill the log of a busy server. The level
 * can change at runtime. Uses no hooks for requests or responses, because they would slow down every request.
 */
class RequestLog extends LogController {
  readonly #log: FastifyBaseLogger;

  constructor(log: FastifyBaseLogger) {
    super();
    this.#log = log;
  }

  override incomingRequest(request: FastifyRequest, { raw }: FastifyReply): void {
    if (this.#log.level !== 'debug' && this.#log.level !== 'trace') return;
    const began = performance.now();
    raw.once('close', () => {
      const { method, url, ip, id, headers } = request;
      const ms = Math.round((performance.now() - began) * 1000) / 1000;
      const line = { reqId: id, method, path: toLoggedPath(url), ip, status: raw.statusCode, ms, ...toTrace(headers) };
      this.#log.debug(line, 'request');
    });
  }
}

/** Addresses. There is at least one, because the lookup of a name without addresses fails. */
type Addresses = readonly [string, ...string[]];

/**
 * Listens on all addresses and resolves to the first. Connections to the other addresses are handed to the same server,
 * so its limits apply to all connections.
 */
export const listenOn = async (
  app: FastifyInstance,
  [first, ...rest]: Addresses,
  port: number,
  log: FastifyBaseLogger,
): Promise<AddressInfo> => {
  const others: TcpServer[] = [];
  app.addHook('preClose', async () => others.forEach((other) => void other.close()));
  await app.listen({ host: first, port });
  const address = app.server.address() as AddressInfo;
  others.push(...rest.map((each) => listenToo(app, each, address.port, log)));
  return address;
};

/** Returns all addresses of localhost. Returns any other host unchanged. */
export const listAddresses = async (host: string): Promise<Addresses> => {
  if (host.toLowerCase() !== 'localhost') return [host];
  const found = await lookup(host, { all: true });
  return [...new Set(found.map(({ address }) => address))] as unknown as Addresses;
};

/** Listens on a second, optional address: `::1`, for example, is missing without IPv6. */
const listenToo = (app: FastifyInstance, host: string, port: number, log: FastifyBaseLogger): TcpServer => {
  const server = createTcpServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    app.server.emit('connection', socket);
  });
  server.maxConnections = app.server.maxConnections;
  server.on('error', (error) => log.debug({ err: error }, 'the server does not listen on the second address'));
  return server.listen(port, host);
};

/** Certificate with its chain, and its key. Both are in PEM. */
export interface Certificate {
  cert: Buffer;
  key: Buffer;
}

/**
 * Returns the TLS options. RFC 8996 forbids TLS 1.0 and 1.1. The minimum is set explicitly, so that no flag of Node can
 * enable them.
 */
const toTlsOptions = (certificate: Certificate): SecureContextOptions => ({
  ...certificate,
  minVersion: 'TLSv1.2',
});

/** Replaces the certificate. New connections use the new certificate, and open connections keep the old one. */
export const renewCertificate = ({ server }: FastifyInstance, certificate: Certificate): void => {
  if ((server as unknown) instanceof TlsServer) {
    (server as unknown as TlsServer).setSecureContext(toTlsOptions(certificate));
  }
};

/** Creates a function that returns true if an address belongs to a proxy with a trusted X-Forwarded-For. */
export const createProxyCheck = (blocks: readonly string[]): ((address: string | undefined) => boolean) => {
  const list = new BlockList();
  for (const block of blocks) {
    const [address = '', prefix] = block.split('/');
    const family = toFamily(address);
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address = '') => blocks.length > 0 && isIP(address) !== 0 && list.check(address, toFamily(address));
};

const toFamily = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
