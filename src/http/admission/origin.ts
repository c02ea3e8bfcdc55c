import type { IncomingHttpHeaders } from 'node:http';
import { HttpError } from '../response/errors.ts';
import type { RequestGuard } from './guard.ts';

/**
 * Refuses what a browser sends for a page of another origin, so that no foreign page can act for its reader.
 * `secure` says that the server itself speaks TLS; otherwise a proxy before it may.
 */
export const createOriginGuard =
  (secure: boolean): RequestGuard =>
  ({ headers }) =>
    isCrossOrigin(headers, secure)
      ? new HttpError(
          'forbidden',
          'Requests from web pages of other origins are refused; see the setting cors',
        )
      : undefined;

const isCrossOrigin = (headers: IncomingHttpHeaders, secure: boolean): boolean => {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const { origin } = headers;
  if (origin === undefined) return false;
  if (!URL.canParse(origin)) return true;
  const { protocol, host } = new URL(origin);
  return host !== normalHost(`${protocol}//${headers.host}`) || (secure && protocol !== 'https:');
};

/** The host as URLs write it: lower case, without the default port. */
const normalHost = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).host : undefined);
