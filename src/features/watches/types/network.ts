import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { WatchSettings } from '../schema.ts';
import { readBodyText } from './body-text.ts';
import { type ChainEnd, findChainEnd, listSentCertificates } from './chain.ts';
import { toNetworkFailure } from './failures.ts';
import { endWith, isHostName, type NetworkAccess, toTlsName } from './socket.ts';
import { toTlsOptions } from './trust.ts';

const defaultRedirects = 3;

interface HttpAnswer {
  status: number;
  body: string;
  /** Milliseconds from the first request to the end of the body, including redirects. */
  ms: number;
  /** Expiry of the last server's certificate chain. */
  certificate: ChainEnd | undefined;
}

const redirectStatuses = [301, 302, 303, 307, 308];

type HttpRequest = Pick<WatchSettings, 'method' | 'headers' | 'body' | 'redirects'>;

/** Requests a URL. Rejects with an Error whose message is the reason. */
export const requestUrl = async (
  url: string,
  access: NetworkAccess,
  signal: AbortSignal,
  given: HttpRequest = {},
): Promise<HttpAnswer> => {
  const { redirects: limit = defaultRedirects } = given;
  const begun = performance.now();
  let current = new URL(url);
  let sent = given;
  let { identity } = access;
  for (let redirects = 0; ; redirects += 1) {
    const response = await requestOnce(current, { ...access, identity }, signal, sent);
    try {
      const { statusCode: status = 0, headers } = response;
      const shown = listSentCertificates((response.socket as Partial<TLSSocket> | null) ?? {});
      if (!redirectStatuses.includes(status) || headers.location === undefined || limit === 0) {
        const body = await readBodyText(response, headers).catch((error: Error) => {
          throw toNetworkFailure(error, signal);
        });
        const ms = performance.now() - begun;
        access.clock.markEnd();
        return { status, body, ms, certificate: findChainEnd(shown, access.authorities) };
      }
      if (redirects === limit) throw new Error(`there are more than ${limit} redirects`);
      const next = toNext(headers.location, current);
      const isSameOrigin = next.origin === current.origin;
      sent = toNextRequest(sent, status, isSameOrigin);
      if (!isSameOrigin) identity = undefined;
      current = next;
    } finally {
      response.destroy();
    }
  }
};

const toNext = (location: string, from: URL): URL => {
  const next = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (!next || !/^https?:$/.test(next.protocol)) throw new Error('the redirect does not lead to an http URL');
  return next;
};

/**
 * Returns the request that follows a redirect. As in browsers, headers go only to their own origin, and a body is sent
 * again only for 307 and 308.
 */
const toNextRequest = ({ method, headers, body }: HttpRequest, status: number, isSameOrigin: boolean): HttpRequest => {
  const repeats = status === 307 || status === 308 || method === 'HEAD';
  return {
    ...(repeats && { method, ...(isSameOrigin && { body }) }),
    ...(isSameOrigin && { headers }),
  };
};

const requestOnce = (
  url: URL,
  { reach, clock, ...trust }: NetworkAccess,
  signal: AbortSignal,
  { method = 'GET', headers: own, body }: HttpRequest,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { assertHost, lookup } = reach;
    assertHost(url.hostname);
    const headers = { 'user-agent': 'signalbox', accept: '*/*', ...toLowerCase(own), connection: 'close' };
    // Each check opens a new connection, because connecting is part of the check.
    const options = { method, lookup, signal, headers, agent: false, ...toTlsOptions(trust) };
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const request = send(url.href, options, (response) => {
      clock.markFirstByte();
      resolve(response);
    });
    request.on('socket', (socket) => {
      clock.follow(socket, { isTls: url.protocol === 'https:', isNamed: isHostName(url.hostname) });
    });
    request.on('error', (error) => reject(toNetworkFailure(error, signal)));
    request.end(body);
  });

const toLowerCase = (headers: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Reads the expiry of a TLS server's certificates, even if they are not trusted. */
export const readServerCertificate = (
  host: string,
  port: number,
  { reach: { assertHost, lookup }, authorities }: Pick<NetworkAccess, 'reach' | 'authorities'>,
  signal: AbortSignal,
): Promise<ChainEnd> =>
  new Promise((resolve, reject) => {
    assertHost(host);
    const socket = connectTls({ host, port, lookup, servername: toTlsName(host), rejectUnauthorized: false });
    endWith(socket, signal);
    socket.on('error', (error) => reject(toNetworkFailure(error, signal)));
    socket.on('close', () => reject(toNetworkFailure(new Error('the connection was closed'), signal)));
    socket.on('secureConnect', () => {
      const found = findChainEnd(listSentCertificates(socket), authorities);
      if (found) resolve(found);
      else reject(new Error('the server presents no certificate'));
      socket.destroy();
    });
  });
