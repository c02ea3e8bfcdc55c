import Type from 'typebox';
import { openFor } from '../../../auth/access.ts';
import { createUnavailable, ErrorBody, HttpError } from '../../../http/errors.ts';
import { sendJson } from '../../../http/json.ts';
import { createClientSignal, createQueue } from '../../../http/overload.ts';
import type { AlertDelivery } from '../../../kit/alert-source.ts';
import { defineRoute, type Route } from '../../../kit/route.ts';
import { uuidForm } from '../../../kit/shape.ts';
import { MiB } from '../../../lib/units.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import type { FiringState } from '../firing/firing-alerts.ts';
import { AlertDetails, type AlertEntry, AlertHistogram, AlertPage, HistogramQuery, SearchQuery } from '../schema.ts';
import { toAlertDetails, toEntry } from '../shown-alert.ts';
import { createTextTest, parseRange, toFieldTests } from './filters.ts';
import { countAlerts } from './histogram.ts';
import { maxReadBytes, refuseLargeRead } from './read-limit.ts';

/** Bytes of alerts after which a page ends. Limits the memory needed for a response. */
const maxPageBytes = MiB;

interface SearchParts {
  journal: RecordLog;
  firing: FiringState;
  clock: () => Date;
  /** Returns an alert's state at each destination. */
  deliveriesOf(record: StoredRecord): readonly AlertDelivery[];
  /** Resolves to the incidents of the alerts, in the same order. */
  nameIncidents(records: readonly StoredRecord[]): Promise<readonly (AlertEntry['incident'] | undefined)[]>;
}

/** Creates the routes that search, count and read logged alerts. */
export const createSearchRoutes = (parts: SearchParts): Route[] => {
  // A search may read a lot. Limited concurrency leaves CPU and disk to other requests.
  const queue = createQueue({ running: 2, waiting: 32, refusal: 'Too many searches of alerts are running' });
  return [createSearchRoute(parts, queue), createHistogramRoute(parts, queue), createDetailsRoute(parts)];
};

type Queue = ReturnType<typeof createQueue>;

const createSearchRoute = ({ journal, firing, nameIncidents }: SearchParts, queue: Queue): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/alerts/search',
    ...openFor('alerts:read'),
    summary: 'Search alerts, newest first',
    schema: { operationId: 'searchAlerts', querystring: SearchQuery, response: { 200: AlertPage } },
    handler: async ({ query }, reply) => {
      const { limit, before } = query;
      const search = {
        ...parseRange(query),
        before,
        limit,
        match: toFieldTests(query),
        test: createTextTest(query.q),
        maxBytes: maxReadBytes,
        maxFoundBytes: maxPageBytes,
      };
      const { records, next } = await queue.run(() => journal.search(search), createClientSignal(reply));
      const incidents = await nameIncidents(records);
      const data = records.map((record, index) =>
        toEntry(record, firing.state.findResolution(record), incidents[index]),
      );
      return sendJson(reply, { count: data.length, data, next: next ?? null });
    },
  });

const createHistogramRoute = ({ journal, clock }: SearchParts, queue: Queue): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/alerts/histogram',
    ...openFor('alerts:read'),
    summary: 'Count alerts by time and level',
    schema: { operationId: 'countAlerts', querystring: HistogramQuery, response: { 200: AlertHistogram } },
    handler: async ({ query }, reply) =>
      sendJson(reply, await queue.run(() => countAlerts(journal, query, clock()), createClientSignal(reply))),
  });

const createDetailsRoute = ({ journal, firing, deliveriesOf, nameIncidents }: SearchParts): Route => {
  const queue = createQueue({ running: 4, waiting: 1000, refusal: 'Too many alerts are being read' });
  return defineRoute({
    method: 'GET',
    path: '/api/alerts/:id',
    ...openFor('alerts:read'),
    summary: 'Get an alert with all details',
    schema: {
      operationId: 'getAlert',
      params: Type.Object({ id: Type.String({ description: 'Id of an alert.' }) }),
      response: { 200: AlertDetails, 404: ErrorBody },
    },
    handler: async ({ params }, reply) => {
      const id = params.id.toLowerCase();
      if (!uuidForm.test(id)) throw new HttpError('not-found', 'Alert not found');
      const record = await queue
        .run(() => journal.find(id), createClientSignal(reply))
        .catch(refuseLargeRead(() => createFindRefusal(id)));
      if (!record) throw new HttpError('not-found', 'Alert not found');
      const [incident = null] = await nameIncidents([record]);
      const more = { deliveries: deliveriesOf(record), incident };
      return sendJson(reply, toAlertDetails(record, firing.state.findResolution(record), more));
    },
  });
};

/** Index of the version digit in a UUID. */
const versionIndex = 14;

/**
 * Creates the 404 for an id. Ids of version 7 contain a time and are found through an index. Other ids are searched for
 * only at the end of the log.
 */
const createFindRefusal = (id: string): HttpError =>
  id[versionIndex] === '7'
    ? createUnavailable('The alert log is still being indexed; try again later')
    : new HttpError(
        'not-found',
        'Alert not found: ids that are not UUIDs of version 7 are only searched for in the last 64 MiB of the log',
      );
