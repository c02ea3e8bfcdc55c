import { openFor } from '../../../auth/access.ts';
import { HttpError } from '../../../http/errors.ts';
import { type JsonList, sendList, sendRows, whenReady } from '../../../http/json.ts';
import { createClientSignal, createQueue } from '../../../http/overload.ts';
import { defineRoute, type Route } from '../../../kit/route.ts';
import type { LogRecord } from '../../../storage/journal/line.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import { AlertList, AlertQuery } from '../schema.ts';
import { toAlert } from '../shown-alert.ts';
import { refuseLargeRead } from './read-limit.ts';

/** Maximum length of a list that does not have to queue behind longer lists. */
const shortCount = 100;

/** Creates the contract's route that lists the latest alerts. */
export const createAlertListRoute = (journal: RecordLog): Route => {
  // A long list may read a lot. Limited concurrency leaves CPU and disk to other requests.
  const refusal = 'Too many lists of alerts are being read; try again in a second';
  const long = createQueue({ running: 2, waiting: 16, refusal });
  const short = createQueue({ running: 16, waiting: 1000, refusal });
  return defineRoute({
    method: 'GET',
    path: '/api/alerts',
    ...openFor('alerts:read'),
    isSpecified: true,
    summary: 'List the last alerts, oldest first',
    headers: {
      response: {
        Link: 'Link with the relation `alternate` (RFC 8288) to the search, which returns more details of each alert.',
      },
    },
    schema: { operationId: 'listAlerts', querystring: AlertQuery, response: { 200: AlertList } },
    handler: ({ query: { count, level } }, reply) => {
      const match = level === undefined ? undefined : { field: 'level', value: level };
      // A relative link works under any proxy path.
      reply.header('link', '<alerts/search>; rel="alternate"');
      const recent = count > shortCount ? undefined : journal.listRecent?.(count, match);
      if (recent) return sendList(reply, toAlertList(recent));
      const listing = (count > shortCount ? long : short)
        .run(() => journal.listLast(count, match), createClientSignal(reply))
        .catch(refuseLargeRead(() => createListRefusal(count)));
      return whenReady(reply, listing, (found) => sendRows(reply, found, toAlert));
    },
  });
};

/** Responses, keyed by the array of recent records. The log creates a new array whenever an alert is stored. */
const lists = new WeakMap<readonly object[], JsonList>();

const toAlertList = (records: readonly LogRecord[]): JsonList => {
  const known = lists.get(records);
  if (known) return known;
  const rows = records.map(toAlert);
  const list = { opening: `{"count":${rows.length},"data":[`, pieces: rows.length > 0 ? [rows] : [], closing: ']}' };
  lists.set(records, list);
  return list;
};

const createListRefusal = (count: number): HttpError =>
  new HttpError(
    'invalid',
    `count is too large: the last ${count} alerts take up more than 256 MiB of the log; request fewer alerts`,
  );
