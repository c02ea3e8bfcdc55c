import { createUnavailable, ErrorBody, HttpError } from '../../http/errors.ts';
import { type JsonList, sendList, sendRows, whenReady } from '../../http/json.ts';
import { createClientSignal, createQueue } from '../../http/overload.ts';
import type { LogRecord } from '../../storage/journal/line.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { defineRoute, type Route } from '../route.ts';
import { toAlert } from './alert.ts';
import { createNativeRoute, type IntakeParts } from './intake/routes.ts';
import type { AlertLog } from './open-log.ts';
import { refuseReading } from './reading.ts';
import { AlertList, AlertQuery, Readiness } from './schema.ts';

/** Lists of up to so many records do not wait for longer ones. */
const shortCount = 100;

interface AlertRouteParts extends IntakeParts {
  journal: RecordLog;
  readiness: AlertLog['readiness'];
  /** The names of other stores that cannot store changes at the moment. */
  listUnavailable(): Promise<string[]>;
}

/** The contract's routes of the alert log, and the health check by its other name. */
export const createAlertRoutes = (parts: AlertRouteParts): Route[] => [
  createNativeRoute(parts),
  listAlerts(parts),
  readReadiness(parts, '/ready', 'getReadiness'),
  readReadiness(parts, '/readyz', 'getReadyz'),
];

const listAlerts = ({ journal }: AlertRouteParts): Route => {
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
        .catch(refuseReading(() => createListRefusal(count)));
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

const readReadiness = ({ readiness, listUnavailable }: AlertRouteParts, path: string, operationId: string): Route =>
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
        throw createUnavailable('The alert log cannot be written at the moment');
      }
      const all = [...unavailable, ...(await listUnavailable())];
      return all.length === 0 ? { status: 'ready' as const } : { status: 'ready' as const, unavailable: all };
    },
  });

const createListRefusal = (count: number): HttpError =>
  new HttpError(
    'invalid',
    `count is too large: the last ${count} alerts take up more than 256 MiB of the log; ask for fewer`,
  );
