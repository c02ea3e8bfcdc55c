import type { IncomingMessage } from 'node:http';
import { HttpError } from '../response/errors.ts';
import type { Check } from './framing.ts';

/** Paths of pages for people, which links on other sites may lead to. */
const page = /^\/(?:docs(?:\/|$)|$)/;

/**
 * Refuses what a browser sends for a page of another origin, so that no foreign page can act for its reader. Following
 * a link to a page is allowed. `secure` says that the server itself speaks TLS; otherwise a proxy in front of it may.
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
    // The browser saw one origin: something on the way has changed Host.
    return site === 'same-origin' ? refuseChangedHost() : refuseForeign();
  };

const refuseForeign = (): HttpError =>
  new HttpError('forbidden', 'Requests from web pages of other origins are refused; see the setting cors');

const refuseChangedHost = (): HttpError =>
  new HttpError(
    'forbidden',
    'The header Host is not the one that the browser sent: let the proxy pass Host on, and name it in allowedHosts',
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
