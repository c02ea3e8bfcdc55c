import { type Operation, readPath } from './operations.ts';
import type { FuzzRequest } from './request.ts';
import { readSent } from './sent.ts';

/** Maximum size in bytes of a body and of headers. */
const limits = { body: 1024 * 1024, headers: 16 * 1024 };

/** Lists the documented statuses for the request. `operation` is its target, if it has one. */
export const listStatuses = (request: FuzzRequest, operation: Operation | undefined): Set<number> => {
  const { kind, target, body = '', method } = request;
  const statuses = operation ? listOwn(request, operation) : listForUnknown(target);
  if (kind !== 'valid' && !isDecodable(target)) statuses.add(400);
  if (kind === 'hostile') for (const status of [400, 403, 417, 431, 501, 505]) statuses.add(status);
  if (body.length > limits.body) statuses.add(413);
  if (measureHead(request) > limits.headers) statuses.add(431);
  if (method === 'OPTIONS') statuses.add(204);
  return statuses;
};

const listOwn = (request: FuzzRequest, operation: Operation): Set<number> => {
  const documented = [...operation.answers.keys()];
  if (request.kind !== 'valid') return new Set(documented);
  const isRun = operation.path.endsWith('/execute');
  const mayRefuse = [
    ...(operation.path.includes('{') ? [404] : []),
    ...(isRun ? [403, 409, 500, 503] : []),
    ...(operation.profile === 'login' ? [401, 429, 503] : []),
    ...(operation.path.endsWith('/api/alert') && isEmptyAlert(request) ? [400] : []),
    // Times are strings in the query that are parsed later.
    ...(/\/api\/(?:alerts\/(?:search|histogram)|history|about\/schedule)$/.test(operation.path) ? [400] : []),
    // Times, matchers and schedules are strings in bodies, and the members of a watch depend on its type.
    ...(['incidents', 'silences', 'notifications', 'oncall', 'alertmanager', 'heartbeats', 'watches'].includes(
      operation.profile,
    )
      ? [400, 404, 409]
      : []),
    // Ranges and time zones are strings. Links of subscribers expire, and only some pages have mail.
    ...(['availability', 'status-pages'].includes(operation.profile) ? [400, 401, 404, 409, 410, 429] : []),
    // The document describes valid names and passwords only in words, and nobody knows the code from the start message.
    ...(operation.profile === 'accounts' ? [400, 403, 404, 409] : []),
    // Only the key of a host can be used for reports. Names, times and codes are strings.
    ...(operation.profile === 'hosts' ? [400, 403, 404, 409, 413, 429] : []),
    // Pointers and names are strings.
    ...(operation.path.includes('{intakeFormat}') ? [400, 409] : []),
    // A ping by the name of a heartbeat requires a key.
    ...(operation.path.includes('/ping/') ? [401] : []),
    // Their schemas do not express which members belong together.
    ...(/\/api\/alert\/(?:auto|slack|pagerduty|plain-text)$/.test(operation.path) ? [400] : []),
  ];
  return new Set(documented.filter((status) => status < 300 || mayRefuse.includes(status)));
};

/** True for an alert without any text. Such an alert is refused although it fits the schema. */
const isEmptyAlert = (request: FuzzRequest): boolean => {
  const sent = readSent(request);
  return ['source', 'level', 'message', 'hostname'].every((name) => !sent?.[name]);
};

const listForUnknown = (target: string): Set<number> => {
  const path = readPath(target);
  if (path === '/' || path === '/docs') return new Set([302, 404, 405]);
  if (path.startsWith('/docs/')) return new Set([200, 206, 304, 404, 405, 412, 416]);
  return new Set([404, 405]);
};

/** True for a target in ASCII that percent-encodes UTF-8. */
const isDecodable = (target: string): boolean => {
  if (!/^[!-~]*$/.test(target)) return false;
  try {
    decodeURIComponent(target);
    return true;
  } catch {
    return false;
  }
};

const measureHead = ({ method, target, headers }: FuzzRequest): number =>
  headers.reduce((sum, [name, value]) => sum + name.length + value.length, method.length + target.length);
