import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { HttpError } from '../response/errors.ts';
import type { Check } from './framing.ts';

interface HostNames {
  /** The address that the server is bound to. */
  boundTo: string;
  /** This machine's name. */
  machine: string;
  /** Names allowed by the settings. */
  allowed: readonly string[];
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** True for loopback addresses and localhost. */
export const isLoopback = (host: string): boolean => {
  const family = isIP(host);
  return family === 0 ? host.toLowerCase() === 'localhost' : loopback.check(host, family === 6 ? 'ipv6' : 'ipv4');
};

/**
 * Refuses requests for host names that are not this server's, so no web page can reach it by pointing its own name at
 * 127.0.0.1 (DNS rebinding). A server bound beyond loopback checks hosts only if `allowed` has names.
 */
export const createHostCheck = ({ boundTo, machine, allowed }: HostNames): Check => {
  const isLocal = isLoopback(boundTo);
  if (!isLocal && allowed.length === 0) return () => undefined;
  const names = new Set([...allowed, ...(isLocal ? [machine] : [])].map(toPlainName));
  const isServed = (name: string): boolean => names.has(name) || (isLocal && isLoopback(name));
  // Nearly every request has the same Host as the one before it.
  let lastHost: string | undefined;
  return ({ headers: { host = '' } }) => {
    if (host === lastHost) return undefined;
    if (!isServed(toHostName(host))) {
      return new HttpError('forbidden', 'This host name is not served here; see the setting allowedHosts');
    }
    lastHost = host;
    return undefined;
  };
};

/** `[::1]:8080` → `::1`, `Example.org:80` → `example.org`. */
const toHostName = (host: string): string => {
  const name = toPlainName(host.replace(/:\d*$/, ''));
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
};

/** In lower case, without the trailing dot of a fully qualified name. */
const toPlainName = (name: string): string => name.toLowerCase().replace(/\.$/, '');

/** Paths of pages, which other sites may link to. */
const page = /^\/(?:(?:docs|console)(?:\/|$)|$)/;

/**
 * Refuses requests that a browser sends for a page of another origin, so no foreign page can act for its user.
 * Following a link to /docs/ or /console/ is allowed. `secure`: this server speaks TLS; otherwise a proxy in front of it may.
 */
export const createOriginCheck =
  (secure: boolean): Check =>
  (request) => {
    const { headers } = request;
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isNavigation(request)) {
      return refuseForeign();
    }
    const { origin } = headers;
    if (origin === undefined || isOwnOrigin(origin, headers.host, secure)) return undefined;
    // To the browser this is one origin, so a proxy has changed Host.
    return site === 'same-origin' ? refuseChangedHost() : refuseForeign();
  };

const refuseForeign = (): HttpError =>
  new HttpError('forbidden', 'Requests from web pages of other origins are refused; see the setting cors');

const refuseChangedHost = (): HttpError =>
  new HttpError(
    'forbidden',
    'The proxy has changed the header Host: let it pass Host on unchanged, and add the name to allowedHosts',
  );

const isNavigation = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && page.test(url.split('?', 1)[0] ?? '');

const isOwnOrigin = (origin: string, ownHost: string | undefined, secure: boolean): boolean => {
  if (!URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  return host === toUrlHost(`${protocol}//${ownHost}`) && !(secure && protocol !== 'https:');
};

/** The host as URLs write it: lower case, without the default port. */
const toUrlHost = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).host : undefined);
