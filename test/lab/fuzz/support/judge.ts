import { gunzipSync } from 'node:zlib';
import { coerceTexts } from '../../../../src/features/alerts/intake/coerce-texts.ts';
import type { HttpResponse } from '../../../support/response.ts';
import { findOperation, type Operation } from './operations.ts';
import { type FuzzRequest, isUnfinished } from './request.ts';
import { isIntake, readForeign, readSent } from './sent.ts';
import { listStatuses } from './statuses.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Error for a response that contradicts the documents, or for a missing response. */
export class Finding extends Error {}

interface Surroundings {
  operations: readonly Operation[];
  cors: boolean;
}

/** Documented response. */
export interface Judged {
  operation: Operation | undefined;
  status: number;
  /** Body as JSON. Undefined if the body is not JSON. */
  json: unknown;
}

/**
 * Reads a response. Throws a Finding if the response is not documented. Returns undefined if no response was needed.
 */
export const judge = (
  request: FuzzRequest,
  response: HttpResponse | undefined,
  { operations, cors }: Surroundings,
): Judged | undefined => {
  if (!response) {
    // A request that ends early, or is rejected before it has been sent completely, may miss its response.
    if (isUnfinished(request) || (request.body?.length ?? 0) > 64 * 1024) return undefined;
    throw new Finding('the connection is closed without an answer');
  }
  // The end of such a request may cut off its response, and without a length or chunks, nobody can see that.
  if (isUnfinished(request) && request.version === 'HTTP/1.0' && !response.headers.has('content-length'))
    return undefined;
  const { status, headers } = response;
  const operation = findOperation(operations, request.method, request.target);
  const allowed = listStatuses(request, operation);
  if (!allowed.has(status)) throw new Finding(`status ${status} is not one of ${[...allowed].sort().join(', ')}`);
  assertHeaders(request, status, headers, cors);
  const json = readBody(request, response, operation?.textType);
  assertShape(operation, status, json);
  if (operation) assertEntitled(request, operation, status);
  return { operation, status, json };
};

const assertHeaders = ({ target }: FuzzRequest, status: number, headers: Map<string, string>, cors: boolean): void => {
  const wanted: [name: string, isThere: boolean][] = [
    ['www-authenticate', status === 401],
    // 204 for the target `*` is the response to OPTIONS (RFC 9110, 9.3.7).
    ['allow', status === 405 || (status === 204 && target === '*')],
    ['retry-after', status === 503 || status === 429],
    ['access-control-allow-origin', cors],
    ['access-control-allow-methods', cors],
    ['x-content-type-options', true],
    ['referrer-policy', true],
    ['cache-control', true],
  ];
  for (const [name, isThere] of wanted) {
    if (headers.has(name) !== isThere) throw new Finding(`${status} ${isThere ? 'without' : 'with'} ${name}`);
  }
};

/** Returns the body as JSON. Undefined without a body, or if the documents specify other text. */
const readBody = (
  { method, target }: FuzzRequest,
  { status, headers, body }: HttpResponse,
  textType?: string,
): unknown => {
  if (method === 'HEAD' || status === 204 || status === 302 || status === 304) {
    if (body.length > 0) throw new Finding(`${status} with a body`);
    return undefined;
  }
  if (target.startsWith('/docs/') && status < 300) return undefined;
  const type = headers.get('content-type');
  // Routes that succeed with a page also show errors to browsers as pages.
  const mayBeText = status < 300 || textType === 'text/html';
  if (mayBeText && textType !== undefined && type?.split(';')[0] === textType) return undefined;
  if (status === 200 && type === 'text/csv; charset=utf-8' && /\/availability(?:\?|$)/.test(target)) return undefined;
  if (type !== 'application/json; charset=utf-8') throw new Finding(`${status} is labelled ${type}`);
  try {
    return JSON.parse(utf8.decode(headers.get('content-encoding') === 'gzip' ? gunzipSync(body) : body));
  } catch {
    throw new Finding(`${status} with a body that is not JSON: ${body.toString('latin1').slice(0, 200)}`);
  }
};

const assertShape = (operation: Operation | undefined, status: number, json: unknown): void => {
  if (json === undefined || (!operation && status < 300)) return;
  const fits = operation?.answers.get(status);
  if (status < 400 || status === 500 ? fits?.(json) : fits?.(json) || isError(json)) return;
  throw new Finding(`the body of ${status} is not as documented: ${JSON.stringify(json).slice(0, 500)}`);
};

const isError = (json: unknown): boolean => {
  const { error, ...others } = (json ?? {}) as Record<string, unknown>;
  return typeof error === 'string' && error !== '' && Object.keys(others).length === 0;
};

/** Asserts that a success had a sufficient token and a valid body. */
const assertEntitled = (request: FuzzRequest, operation: Operation, status: number): void => {
  if (status >= 300 || request.method === 'OPTIONS') return;
  const [, token = ''] = request.headers.find(([name]) => name === 'Authorization') ?? [];
  const good = operation.isForReaders ? /^(Bearer +)?\{(admin|reader)\}$/i : /^(Bearer +)?\{admin\}$/i;
  if (operation.needsToken && !good.test(token)) throw new Finding(`${status} with the token ${token}`);
  const given = isIntake(operation.path) ? readForeign(request) : readSent(request);
  // Actions on incidents need no body if no member is required.
  const sent = given === undefined && !request.body && operation.profile === 'incidents' ? {} : given;
  if (operation.body && !isUnfinished(request) && !fits(operation, sent)) {
    throw new Finding(`${status} for a body that does not fit`);
  }
};

/** True for a body that fits. Programs that send alerts may send numbers and booleans where strings are documented. */
const fits = ({ path, body = {}, takes }: Operation, sent: unknown): boolean => {
  if (takes(sent) || !isIntake(path)) return takes(sent);
  const texts = structuredClone(sent);
  coerceTexts(body, texts);
  return takes(texts);
};
