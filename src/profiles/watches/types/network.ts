import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import { type Targets, UncheckedTarget } from '../../targets.ts';

/** How many redirects are followed, and how much of a body is read. */
const mostRedirects = 3;
const mostBytes = 1024 * 1024;

interface HttpAnswer {
  status: number;
  body: string;
  /** Until the body was read, of all requests together. */
  ms: number;
  /** When the certificate of the last server ends. */
  validTo: Date | undefined;
}

const statusesThatRedirect = [301, 302, 303, 307, 308];

/** Requests a URL. Rejects with an Error whose message says why there is no answer. */
export const requestUrl = async (url: string, targets: Targets, signal: AbortSignal): Promise<HttpAnswer> => {
  const begun = performance.now();
  let current = new URL(url);
  for (let redirects = 0; ; redirects += 1) {
    const response = await requestOnce(current, targets, signal);
    try {
      const { statusCode: status = 0, headers } = response;
      const validTo = response.socket ? readValidTo(response.socket) : undefined;
      if (!statusesThatRedirect.includes(status) || headers.location === undefined) {
        return { status, body: await readBody(response, signal), ms: performance.now() - begun, validTo };
      }
      if (redirects === mostRedirects) throw new Error(`there are more than ${mostRedirects} redirects`);
      current = toNext(headers.location, current);
    } finally {
      response.destroy();
    }
  }
};

const toNext = (location: string, from: URL): URL => {
  const next = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (!next || !/^https?:$/.test(next.protocol)) throw new Error('it redirects to something that is no http URL');
  return next;
};

const requestOnce = (url: URL, { assertHost, lookup }: Targets, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    assertHost(url.hostname);
    const headers = { 'user-agent': 'signalbox', accept: '*/*', connection: 'close' };
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    // Each check makes a connection of its own: it is what is watched.
    const request = send(url.href, { lookup, signal, headers, agent: false }, resolve);
    request.on('error', (error) => reject(toReason(error, signal)));
    request.end();
  });

const readBody = async (response: IncomingMessage, signal: AbortSignal): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, mostBytes - bytes));
      bytes += chunk.length;
      if (bytes >= mostBytes) break;
    }
  } catch (error) {
    throw toReason(error as Error, signal);
  }
  return Buffer.concat(chunks).toString();
};

const readValidTo = (socket: Socket): Date | undefined => {
  const { getPeerCertificate } = socket as Partial<TLSSocket>;
  const validTo = getPeerCertificate ? (socket as TLSSocket).getPeerCertificate()?.valid_to : undefined;
  return validTo === undefined ? undefined : new Date(validTo);
};

/** Connects and resolves to the milliseconds that it took. */
export const connectTo = (
  host: string,
  port: number,
  { assertHost, lookup }: Targets,
  signal: AbortSignal,
): Promise<number> =>
  new Promise((resolve, reject) => {
    assertHost(host);
    const begun = performance.now();
    const socket = connect({ host, port, lookup });
    endWith(socket, signal);
    socket.on('error', (error) => reject(toReason(error, signal)));
    socket.on('close', () => reject(toReason(new Error('the connection was closed'), signal)));
    socket.on('connect', () => {
      resolve(performance.now() - begun);
      socket.destroy();
    });
  });

/** The end of the certificate that a TLS server shows, whoever has signed it. */
export const readServerCertificate = (
  host: string,
  port: number,
  { assertHost, lookup }: Targets,
  signal: AbortSignal,
): Promise<Date> =>
  new Promise((resolve, reject) => {
    assertHost(host);
    const servername = /^[\d.]+$|:/.test(host) ? '' : host;
    const socket = connectTls({ host, port, lookup, servername, rejectUnauthorized: false });
    endWith(socket, signal);
    socket.on('error', (error) => reject(toReason(error, signal)));
    socket.on('close', () => reject(toReason(new Error('the connection was closed'), signal)));
    socket.on('secureConnect', () => {
      const { valid_to: validTo }: Partial<DetailedPeerCertificate> = socket.getPeerCertificate();
      if (validTo === undefined) reject(new Error('the server shows no certificate'));
      else resolve(new Date(validTo));
      socket.destroy();
    });
  });

const endWith = (socket: Socket, signal: AbortSignal): void => {
  const end = (): void => void socket.destroy();
  signal.addEventListener('abort', end, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', end));
};

const reasons: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the host does not answer',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate was signed by somebody unknown',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate was signed by somebody unknown',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
};

/** By the beginning of the code. */
const kinds = [
  ['HPE_', 'the answer is no HTTP'],
  ['ERR_SSL_WRONG_VERSION', 'the answer is no TLS'],
] as const;

type SocketError = NodeJS.ErrnoException & { hostname?: string; errors?: NodeJS.ErrnoException[] };

const toReason = (error: Error, signal: AbortSignal): Error => {
  if (error instanceof UncheckedTarget) return error;
  if (signal.aborted) return new Error('there was no answer in time');
  const { code = '', hostname, errors } = error as SocketError;
  if (code === 'ENOTFOUND') return new UncheckedTarget(`the host name ${hostname} is unknown`);
  if (code === 'EAI_AGAIN') return new UncheckedTarget(`the name server does not respond for ${hostname}`);
  const reason = reasons[code] ?? kinds.find(([start]) => code.startsWith(start))?.[1];
  return new Error(reason ?? (error.message || errors?.[0]?.message || code || 'the connection failed'));
};

/** Why a target does not answer; throws an error that says nothing of it. */
export const toFault = (error: Error): string => {
  if (error instanceof UncheckedTarget) throw error;
  return error.message;
};
