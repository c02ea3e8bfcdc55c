import type { IncomingMessage } from 'node:http';
import { type ErrorKind, HttpError } from '../response/errors.ts';
import type { RequestGuard } from './guard.ts';

/** `/`, with which every target starts that is no absolute URI, no `*` and no authority. */
const slash = 47;

/** RFC 3986, 3.2.2 and 3.2.3, without what no host name has: a name or a bracketed address, and a port. */
const hostForm = /^(?:[\w.~!$&'()*+;=%-]+|\[[\da-f:.]+\])(?::\d*)?$/i;

const absoluteForm = /^https?:\/\/([^/?#]*)(\/.*)?$/i;

/**
 * What Node's parser lets pass though HTTP/1.1 does not: other versions, doubtful hosts, codings and targets. A server
 * that reads such a request differently from a proxy before it can be made to serve two requests as one. Twice given
 * headers must come joined (`joinDuplicateHeaders`): so a second Host makes the first one invalid.
 */
export const createFramingGuard = (): RequestGuard => {
  // Nearly every request names the host that the one before it named.
  let lastHost: string | undefined;
  return (request) => {
    const { httpVersion, headers, url = '' } = request;
    if (httpVersion !== '1.1' && httpVersion !== '1.0')
      return refuse('version-not-supported', 'HTTP/1.1 is spoken here');
    if (headers.host === undefined || headers.host !== lastHost) {
      const fault = findHostFault(request);
      if (fault) return fault;
      lastHost = headers.host;
    }
    const coding = headers['transfer-encoding'];
    if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
      return findCodingFault(httpVersion, coding);
    }
    if (headers.expect !== undefined && httpVersion === '1.1' && !/^100-continue$/i.test(headers.expect)) {
      return refuse('expectation-failed', 'Only 100-continue can be expected');
    }
    return url.charCodeAt(0) === slash ? undefined : readOtherTarget(request, url);
  };
};

/** RFC 9112, 3.2: one valid Host, which only HTTP/1.0 may leave out. */
const findHostFault = ({ httpVersion, headers: { host } }: IncomingMessage): HttpError | undefined => {
  if (host === undefined) {
    return httpVersion === '1.0' ? undefined : refuse('invalid', 'The header Host is missing');
  }
  return hostForm.test(host) ? undefined : refuse('invalid', 'The header Host must name one host');
};

/** RFC 9112, 6.1: no coding in HTTP/1.0, and 501 for codings that are not understood. */
const findCodingFault = (version: string, coding: string): HttpError =>
  version === '1.0' || coding === ''
    ? refuse('invalid', 'The header Transfer-Encoding has no place here')
    : refuse('not-implemented', 'Of transfer codings only chunked is understood');

/** RFC 9112, 3.2.2 and 3.2.4: an absolute target's host counts instead of Host's; `*` is for OPTIONS alone. */
const readOtherTarget = (request: IncomingMessage, url: string): HttpError | undefined => {
  if (url === '*' && request.method === 'OPTIONS') return undefined;
  const [, host = '', path = '/'] = absoluteForm.exec(url) ?? [];
  if (!hostForm.test(host)) return refuse('invalid', 'The target of the request is not one for this method');
  request.headers.host = host;
  request.url = path;
  return undefined;
};

/** After a doubtful request nothing else on its connection can be trusted. */
const refuse = (kind: ErrorKind, message: string): HttpError =>
  new HttpError(kind, message, { headers: { Connection: 'close' } });
