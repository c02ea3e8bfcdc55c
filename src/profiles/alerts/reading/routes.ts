import Type from 'typebox';
import { createUnavailable, ErrorBody, HttpError } from '../../../http/errors.ts';
import { sendJson } from '../../../http/json.ts';
import { createClientSignal, createQueue } from '../../../http/overload.ts';
import { JournalError } from '../../../storage/journal/errors.ts';
import type { FieldTest } from '../../../storage/journal/parse.ts';
import type { StoredRecord } from '../../../storage/journal/read/lines.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import { defineRoute, type Route } from '../../route.ts';
import type { FiringAlerts } from '../firing/firing-alerts.ts';
import { createSeverityTest, createTextTest, parseRange, toDetails, toEntry } from './entry.ts';
import { countAlerts } from './histogram.ts';
import {
  type AlertDelivery,
  AlertDetails,
  type AlertEntry,
  AlertHistogram,
  AlertPage,
  HistogramQuery,
  SearchQuery,
} from './schema.ts';

const MiB = 1024 * 1024;

/** Bytes of the log that one request may read. */
const maxReadBytes = 64 * MiB;

/** A page with so many bytes of alerts ends early: a response must not take up much memory. */
const maxPageBytes = MiB;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const version7 = 14;

interface ReadingParts {
  journal: RecordLog;
  firing: FiringAlerts;
  clock: () => Date;
  /** The incidents of alerts; an empty list where nobody knows them. */
  nameIncidents?: (records: readonly StoredRecord[]) => Promise<readonly (AlertEntry['incident'] | undefined)[]>;
  /** What became of the alert at each destination. */
  deliveriesOf?: (record: StoredRecord) => readonly AlertDelivery[];
}

/** The routes that read single alerts of the log. */
export const createReadingRoutes = ({
  deliveriesOf = () => [],
  nameIncidents = async () => [],
  ...others
}: ReadingParts): Route[] => {
  const parts = { ...others, nameIncidents };
  // Each may read a lot: few at a time leave the processor and the disk to other requests.
  const queue = createQueue({ running: 2, waiting: 32, refusal: 'Too many searches of alerts are running' });
  return [searchAlerts(parts, queue), countByTime(parts, queue), readAlert({ ...parts, deliveriesOf })];
};

type Queue = ReturnType<typeof createQueue>;

const searchAlerts = (
  { journal, firing, nameIncidents }: Pick<Required<ReadingParts>, 'journal' | 'firing' | 'nameIncidents'>,
  queue: Queue,
): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/alerts/search',
    access: 'open',
    scope: 'alerts:read',
    summary: 'Search alerts, newest first',
    schema: { operationId: 'searchAlerts', querystring: SearchQuery, response: { 200: AlertPage } },
    handler: async ({ query }, reply) => {
      const { limit, before, q } = query;
      const text = q?.toLowerCase();
      const search = {
        ...parseRange(query),
        before,
        match: toFieldTests(query),
        ...(text !== undefined && {
          test: ({ message }: Record<string, unknown>) =>
            String(message ?? '')
              .toLowerCase()
              .includes(text),
        }),
        limit,
        maxBytes: maxReadBytes,
        maxFoundBytes: maxPageBytes,
      };
      const { records, next } = await queue.run(() => journal.search(search), createClientSignal(reply));
      const incidents = await nameIncidents(records);
      const data = records.map((record, index) => toEntry(record, firing, incidents[index]));
      return sendJson(reply, { count: data.length, data, next: next ?? null });
    },
  });

/** The fields that must be as given. */
const toFieldTests = ({ level, severity, source, hostname, status }: SearchQuery): FieldTest[] => [
  ...Object.entries({ level, source, hostname, status }).flatMap(([field, value]) =>
    value === undefined ? [] : [{ field, accepts: createTextTest(value) }],
  ),
  ...(severity === undefined ? [] : [{ field: 'level', accepts: createSeverityTest(severity) }]),
];

const countByTime = ({ journal, clock }: ReadingParts, queue: Queue): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/alerts/histogram',
    access: 'open',
    scope: 'alerts:read',
    summary: 'Count alerts by time and level',
    schema: { operationId: 'countAlerts', querystring: HistogramQuery, response: { 200: AlertHistogram } },
    handler: async ({ query }, reply) =>
      sendJson(
        reply,
        await queue.run(() => countAlerts(journal, query, clock(), maxReadBytes), createClientSignal(reply)),
      ),
  });

const readAlert = ({ journal, firing, nameIncidents, deliveriesOf }: Required<ReadingParts>): Route => {
  const queue = createQueue({ running: 4, waiting: 1000, refusal: 'Too many alerts are being read' });
  return defineRoute({
    method: 'GET',
    path: '/api/alerts/:id',
    access: 'open',
    scope: 'alerts:read',
    summary: 'Everything about one alert',
    schema: {
      operationId: 'getAlert',
      params: Type.Object({ id: Type.String({ description: 'Id of an alert.' }) }),
      response: { 200: AlertDetails, 404: ErrorBody },
    },
    handler: async ({ params }, reply) => {
      const id = params.id.toLowerCase();
      if (!uuid.test(id)) throw new HttpError('not-found', 'Alert not found');
      const record = await queue
        .run(() => journal.find(id), createClientSignal(reply))
        .catch((error) => {
          throw toFindRefusal(error, id);
        });
      if (!record) throw new HttpError('not-found', 'Alert not found');
      const [incident = null] = await nameIncidents([record]);
      return sendJson(reply, toDetails(record, firing, { deliveries: deliveriesOf(record), incident }));
    },
  });
};

/** The response where finding one alert takes too much reading; other errors stay as they are. */
const toFindRefusal = (error: unknown, id: string): unknown => {
  if (!(error instanceof JournalError) || error.code !== 'window-too-large') return error;
  return id[version7] === '7'
    ? createUnavailable('The alert log is being indexed; try again')
    : new HttpError('not-found', 'Alert not found: by its kind of id only the last 64 MiB of such alerts are searched');
};
