import type { IdentifySender } from '../../auth/guard.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { type JsonList, sendJson, sendList, sendRows, whenReady } from '../../http/json.ts';
import { createClientSignal, createQueue } from '../../http/overload.ts';
import { idempotencyKeyHeader, readIdempotencyKey, toTrace } from '../../http/request-headers.ts';
import { JournalError } from '../../storage/journal/errors.ts';
import type { LogRecord } from '../../storage/journal/line.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { defineRoute, type Route } from '../route.ts';
import { toViaField } from '../via.ts';
import { createNativeAlert, isEmpty, toAlert } from './alert.ts';
import { type AlertCounts, retryAfter, toRefusal } from './counts.ts';
import type { AlertIntake } from './intake/repeats.ts';
import type { AlertLog } from './open-log.ts';
import { AlertBody, AlertList, AlertQuery, AlertReceipt, Readiness } from './schema.ts';

interface Surroundings {
  journal: RecordLog;
  intake: AlertIntake;
  readiness: AlertLog['readiness'];
  counts: AlertCounts;
  clock: () => Date;
  identifySender: IdentifySender;
  /** The names of other stores that cannot store changes at the moment. */
  listUnavailable(): Promise<string[]>;
}

/** The contract's routes of the alert log, and the health check by its other name. */
export const createAlertRoutes = (surroundings: Surroundings): Route[] => [
  receiveAlert(surroundings),
  listAlerts(surroundings),
  readReadiness(surroundings, '/ready', 'getReadiness'),
  readReadiness(surroundings, '/readyz', 'getReadyz'),
];

const receiveAlert = ({ intake, counts, clock, identifySender }: Surroundings): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/alert',
    access: 'open',
    scope: 'alerts:write',
    summary: 'Store an alert; responds once it is on disk',
    headers: { request: idempotencyKeyHeader },
    schema: { operationId: 'createAlert', body: AlertBody, response: { 200: AlertReceipt, 422: ErrorBody } },
    errorHandler: counts.createErrorHandler('native'),
    handler: (request, reply) => {
      const { body, headers } = request;
      if (isEmpty(body)) {
        throw new HttpError('invalid', 'At least one of source, level, message, hostname must be given');
      }
      const key = readIdempotencyKey(headers);
      const now = clock();
      const store = async (): Promise<{ id: string; isRepeat?: boolean }> => {
        const alert = createNativeAlert(body, { now, sender: identifySender(request) });
        const record = { ...alert, ...toViaField(headers.via), ...toTrace(headers) };
        return key === undefined ? intake.append(record) : intake.storeOnce(record, key);
      };
      const stored = store().catch((error) => {
        throw toRefusal(error);
      });
      return whenReady(reply, stored, ({ id, isRepeat }) => {
        if (isRepeat) counts.addRepeated('native', 1);
        else counts.addReceived('native', body.level ?? '');
        sendJson(reply, { received: true, id });
      });
    },
  });

/** Lists of up to so many records do not wait for longer ones. */
const shortCount = 100;

const listAlerts = ({ journal }: Surroundings): Route => {
  // A long list may read a lot: few at a time leave the processor and the disk to other requests.
  const refusal = 'Too many lists of alerts are being read; try again in a second';
  const long = createQueue({ running: 2, waiting: 16, refusal });
  const short = createQueue({ running: 16, waiting: 1000, refusal });
  return defineRoute({
    method: 'GET',
    path: '/api/alerts',
    access: 'open',
    scope: 'alerts:read',
    summary: 'List the last alerts, oldest first',
    headers: {
      response: { Link: 'The search, which shows more of each alert: its relation is `alternate` (RFC 8288).' },
    },
    schema: { operationId: 'listAlerts', querystring: AlertQuery, response: { 200: AlertList } },
    handler: ({ query: { count, level } }, reply) => {
      const match = level === undefined ? undefined : { field: 'level', value: level };
      // Relative, so that it holds behind a proxy that serves the program below another path.
      reply.header('link', '<alerts/search>; rel="alternate"');
      const recent = count > shortCount ? undefined : journal.listRecent?.(count, match);
      if (recent) return sendList(reply, toList(recent));
      const listing = (count > shortCount ? long : short)
        .run(() => journal.listLast(count, match), createClientSignal(reply))
        .catch((error) => {
          throw toListRefusal(error, count);
        });
      return whenReady(reply, listing, (found) => sendRows(reply, found, toAlert));
    },
  });
};

/** Lists of records in memory, which are the same until an alert is stored. */
const lists = new WeakMap<readonly object[], JsonList>();

const toList = (records: readonly LogRecord[]): JsonList => {
  const known = lists.get(records);
  if (known) return known;
  const rows = records.map(toAlert);
  const list = { opening: `{"count":${rows.length},"data":[`, pieces: rows.length > 0 ? [rows] : [], closing: ']}' };
  lists.set(records, list);
  return list;
};

const readReadiness = ({ readiness, listUnavailable }: Surroundings, path: string, operationId: string): Route =>
  defineRoute({
    method: 'GET',
    path,
    access: 'open',
    staysOpen: true,
    summary: 'Check whether alerts can be stored',
    schema: { operationId, response: { 200: Readiness, 503: ErrorBody } },
    handler: async () => {
      const { isReady, unavailable } = readiness();
      if (!isReady) {
        throw new HttpError('unavailable', 'The alert log cannot be written at the moment', { headers: retryAfter });
      }
      const all = [...unavailable, ...(await listUnavailable())];
      return all.length === 0 ? { status: 'ready' as const } : { status: 'ready' as const, unavailable: all };
    },
  });

/** The response to a list that would take too much reading; other errors stay as they are. */
const toListRefusal = (error: unknown, count: number): unknown =>
  error instanceof JournalError && error.code === 'window-too-large'
    ? new HttpError(
        'invalid',
        `count is too large: the last ${count} alerts take up more than 256 MiB of the log; ask for fewer`,
      )
    : error;
