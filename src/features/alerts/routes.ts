import Type from 'typebox';
import { openFor } from '../../auth/access.ts';
import { createUnavailable, ErrorBody, HttpError } from '../../http/errors.ts';
import { type JsonList, sendJson, sendList, sendRows, whenReady } from '../../http/json.ts';
import { createClientSignal, createQueue } from '../../http/overload.ts';
import { requireTime } from '../../http/text-forms.ts';
import { readTime } from '../../kit/alert-record.ts';
import type { AlertDelivery } from '../../kit/alert-source.ts';
import { defineRoute, type Route, uuidForm } from '../../kit/route.ts';
import { findSeverity, type Severity, severities, toSeverity } from '../../kit/severity.ts';
import type { Topic } from '../../kit/topic.ts';
import { toOffsetTimestamp } from '../../lib/local-time.ts';
import { MiB, minuteMs } from '../../lib/units.ts';
import { createFilterTest } from '../../lib/wildcards.ts';
import { JournalError } from '../../storage/journal/errors.ts';
import type { FieldTest, LogRecord, StoredRecord } from '../../storage/journal/line.ts';
import type { Counting } from '../../storage/journal/read/search.ts';
import { LogFollower } from '../../storage/log-follower.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { toAlert, toAlertDetails, toEntry } from './alert.ts';
import type { FiringState } from './firing.ts';
import { createNativeRoute, createTextRoute, type IntakeParts } from './intake/routes.ts';
import type { AlertLog } from './open-log.ts';
import {
  AlertDetails,
  AlertEntry,
  AlertHistogram,
  AlertList,
  AlertPage,
  AlertQuery,
  HistogramQuery,
  Readiness,
  SearchQuery,
} from './schema.ts';

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
  createTextRoute(parts),
  createListRoute(parts),
  createReadinessRoute(parts, '/ready', 'getReadiness'),
  createReadinessRoute(parts, '/readyz', 'getReadyz'),
];

const createListRoute = ({ journal }: AlertRouteParts): Route => {
  // A long list may read a lot: few at a time leave the processor and the disk to other requests.
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
      response: { Link: 'The search, which shows more of each alert: its relation is `alternate` (RFC 8288).' },
    },
    schema: { operationId: 'listAlerts', querystring: AlertQuery, response: { 200: AlertList } },
    handler: ({ query: { count, level } }, reply) => {
      const match = level === undefined ? undefined : { field: 'level', value: level };
      // Relative, so that it holds behind a proxy that serves the program below another path.
      reply.header('link', '<alerts/search>; rel="alternate"');
      const recent = count > shortCount ? undefined : journal.listRecent?.(count, match);
      if (recent) return sendList(reply, toAlertList(recent));
      const listing = (count > shortCount ? long : short)
        .run(() => journal.listLast(count, match), createClientSignal(reply))
        .catch(refuseReading(() => createListRefusal(count)));
      return whenReady(reply, listing, (found) => sendRows(reply, found, toAlert));
    },
  });
};

/** Lists of records in memory, which are the same until an alert is stored. */
const lists = new WeakMap<readonly object[], JsonList>();

const toAlertList = (records: readonly LogRecord[]): JsonList => {
  const known = lists.get(records);
  if (known) return known;
  const rows = records.map(toAlert);
  const list = { opening: `{"count":${rows.length},"data":[`, pieces: rows.length > 0 ? [rows] : [], closing: ']}' };
  lists.set(records, list);
  return list;
};

const createReadinessRoute = (
  { readiness, listUnavailable }: AlertRouteParts,
  path: string,
  operationId: string,
): Route =>
  defineRoute({
    method: 'GET',
    path,
    ...openFor('alerts:read'),
    staysOpen: true,
    isVital: true,
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

const dayMinutes = 24 * 60;

/** Bytes of the log that one request may read. */
const maxReadBytes = 64 * MiB;

/** A page with so many bytes of alerts ends early: a response must not take up much memory. */
const maxPageBytes = MiB;

/** Milliseconds for which alerts are collected while many come, so that a listener gets them in few writes. */
const collectingMs = 20;

const version7 = 14;

interface ReadingParts {
  journal: RecordLog;
  firing: FiringState;
  clock: () => Date;
  /** What became of the alert at each destination. */
  deliveriesOf(record: StoredRecord): readonly AlertDelivery[];
  /** The incidents of alerts; an empty list where nobody knows them. */
  nameIncidents(records: readonly StoredRecord[]): Promise<readonly (AlertEntry['incident'] | undefined)[]>;
}

/** The routes that search, count and read alerts of the log. */
export const createReadingRoutes = (parts: ReadingParts): Route[] => {
  // Each may read a lot: few at a time leave the processor and the disk to other requests.
  const queue = createQueue({ running: 2, waiting: 32, refusal: 'Too many searches of alerts are running' });
  return [createSearchRoute(parts, queue), createHistogramRoute(parts, queue), createReadRoute(parts)];
};

type Queue = ReturnType<typeof createQueue>;

const createSearchRoute = ({ journal, firing, nameIncidents }: ReadingParts, queue: Queue): Route =>
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
        test: createMessageTest(query.q),
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

type Filters = Omit<HistogramQuery, 'buckets'>;

/** The fields that must be as given. */
const toFieldTests = ({ level, severity, source, hostname, status }: Filters): FieldTest[] => [
  ...Object.entries({ level, source, hostname, status }).flatMap(([field, value]) =>
    value === undefined ? [] : [{ field, accepts: createFilterTest(value) }],
  ),
  ...(severity === undefined ? [] : [{ field: 'level', accepts: createSeverityTest(severity) }]),
];

const createHistogramRoute = ({ journal, clock }: ReadingParts, queue: Queue): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/alerts/histogram',
    ...openFor('alerts:read'),
    summary: 'Count alerts by time and level',
    schema: { operationId: 'countAlerts', querystring: HistogramQuery, response: { 200: AlertHistogram } },
    handler: async ({ query }, reply) =>
      sendJson(
        reply,
        await queue.run(() => countAlerts(journal, query, clock(), maxReadBytes), createClientSignal(reply)),
      ),
  });

const createReadRoute = ({ journal, firing, deliveriesOf, nameIncidents }: ReadingParts): Route => {
  const queue = createQueue({ running: 4, waiting: 1000, refusal: 'Too many alerts are being read' });
  return defineRoute({
    method: 'GET',
    path: '/api/alerts/:id',
    ...openFor('alerts:read'),
    summary: 'Everything about one alert',
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
        .catch(refuseReading(() => createFindRefusal(id)));
      if (!record) throw new HttpError('not-found', 'Alert not found');
      const [incident = null] = await nameIncidents([record]);
      const more = { deliveries: deliveriesOf(record), incident };
      return sendJson(reply, toAlertDetails(record, firing.state.findResolution(record), more));
    },
  });
};

/** For `catch`: throws the response where too much of the log would have to be read; other errors stay as they are. */
const refuseReading =
  (createRefusal: () => HttpError) =>
  (error: unknown): never => {
    throw error instanceof JournalError && error.code === 'window-too-large' ? createRefusal() : error;
  };

const createFindRefusal = (id: string): HttpError =>
  id[version7] === '7'
    ? createUnavailable('The alert log is being indexed; try again')
    : new HttpError('not-found', 'Alert not found: by its kind of id only the last 64 MiB of such alerts are searched');

/** Counts alerts in buckets of whole minutes, by default of the last 24 hours; reads at most `maxBytes` of the log. */
const countAlerts = async (journal: RecordLog, query: HistogramQuery, now: Date, maxBytes: number) => {
  const range = parseRange(query);
  const until = range.until ?? Math.max(now.getTime(), (range.since ?? 0) + minuteMs);
  const end = Math.ceil(until / minuteMs);
  const first = range.since === undefined ? end - dayMinutes : Math.floor(range.since / minuteMs);
  const minutes = end - first;
  const length = Math.ceil(minutes / query.buckets);
  const buckets = Math.ceil(minutes / length);
  const last = first + buckets * length;
  const createCounts = (): number[] => Array(buckets).fill(0);
  const all = createCounts();
  const bySeverity = new Map(severities.map((severity) => [severity, createCounts()]));
  const add = (minute: number, level: string, count: number): void => {
    const bucket = Math.floor((minute - first) / length);
    addTo(all, bucket, count);
    addTo(bySeverity.get(toSeverity(level)) ?? [], bucket, count);
  };
  const counting = { since: first, until: last, maxBytes };
  const complete = isIndexed(query)
    ? await countIndexed(journal, query, counting, add)
    : await countFound(journal, query, counting, add);
  return {
    since: toTime(first),
    until: toTime(last),
    bucketSeconds: length * 60,
    complete,
    buckets: all.map((count, bucket) => ({
      time: toTime(first + bucket * length),
      count,
      levels: pickBucket(bySeverity, bucket),
    })),
  };
};

type Window = Omit<Counting, 'add'>;
type Add = (minute: number, level: string, count: number) => void;

/** True if the index of the log, which has the level of each alert, says all that these filters ask for. */
const isIndexed = ({ source, hostname, status, q }: Filters): boolean =>
  [source, hostname, status, q].every((filter) => filter === undefined);

/** Counts the alerts of a window by the index of the log; resolves to whether all were counted. */
const countIndexed = async (journal: RecordLog, query: Filters, window: Window, add: Add): Promise<boolean> => {
  const isLevel = query.level === undefined ? undefined : createFilterTest(query.level);
  const isSeverity = query.severity === undefined ? undefined : createSeverityTest(query.severity);
  let isTold = true;
  const complete = await journal.countByMinute({
    ...window,
    add: (minute, level, count) => {
      // Rare levels of a file with very many are counted together; few of them are names that are known.
      if (level === undefined && isLevel) isTold = false;
      if (isLevel && (level === undefined || !isLevel(level))) return;
      if (isSeverity && !isSeverity(level ?? '')) return;
      add(minute, level ?? '', count);
    },
  });
  return complete && isTold;
};

/** Counts the alerts of a window that a search finds; resolves to false if older ones were not looked at. */
const countFound = async (
  journal: RecordLog,
  query: Filters,
  { since, until, maxBytes }: Window,
  add: Add,
): Promise<boolean> => {
  const hasText = createMessageTest(query.q);
  const { next } = await journal.search({
    since: since * minuteMs,
    until: until * minuteMs,
    match: toFieldTests(query),
    // Nothing is found, so that no record is kept.
    test: (record) => {
      const time = readTime(record);
      if (time !== undefined && hasText(record)) add(Math.floor(time / minuteMs), String(record['level'] ?? ''), 1);
      return false;
    },
    limit: 1,
    maxBytes,
  });
  return next === undefined;
};

const addTo = (counts: number[], bucket: number, count: number): void => {
  counts[bucket] = (counts[bucket] ?? 0) + count;
};

/** The counts of one bucket, of the severities that it has. */
const pickBucket = (bySeverity: Map<Severity, number[]>, bucket: number): Partial<Record<Severity, number>> =>
  Object.fromEntries([...bySeverity].map(([name, counts]) => [name, counts[bucket] ?? 0]).filter(([, count]) => count));

const toTime = (minute: number): string => toOffsetTimestamp(new Date(minute * minuteMs));

/** True for records with this text in their message, in any case; for all without a text. */
const createMessageTest = (wanted: string | undefined): ((record: LogRecord) => boolean) => {
  if (wanted === undefined) return () => true;
  const lower = wanted.toLowerCase();
  return ({ message }) =>
    String(message ?? '')
      .toLowerCase()
      .includes(lower);
};

/** Whether a level means the severity that has this name; throws an HttpError if none has. */
const createSeverityTest = (name: string): ((level: string) => boolean) => {
  const wanted = findSeverity(name);
  if (wanted) return (level) => toSeverity(level) === wanted;
  const names = severities.join(', ');
  throw new HttpError('invalid', `severity must name one of ${names}, such as critical, err, warn or info`);
};

/** The Unix milliseconds of the parameters `since` and `until`; throws an HttpError that names the one that is wrong. */
const parseRange = (query: { since?: string; until?: string }) => {
  const since = readBound('since', query.since);
  const until = readBound('until', query.until);
  if (since !== undefined && until !== undefined && since >= until) {
    throw new HttpError('invalid', 'since must be before until');
  }
  return { since, until };
};

const readBound = (name: string, text: string | undefined): number | undefined =>
  text === undefined ? undefined : requireTime(name, text);

/** Each stored alert as search returns it, in order; the event's id is the alert's seq. */
export const createAlertsTopic = (journal: RecordLog, firing: FiringState): Topic => {
  let { lastSeq: stored } = journal.state();
  const wakeups = new Set<() => void>();
  let wokenAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const wakeAll = (): void => {
    timer = undefined;
    wokenAt = performance.now();
    for (const wake of wakeups) wake();
  };
  journal.onStored((seq) => {
    stored = seq;
    if (wakeups.size === 0 || timer) return;
    timer = setTimeout(wakeAll, Math.max(1, wokenAt + collectingMs - performance.now())).unref();
  });
  const encode = createEncoder(firing);
  return {
    ...openFor('alerts:read'),
    schema: AlertEntry,
    lastId: () => stored,
    refresh: async () => journal.refresh?.(),
    subscribe: (send, after) => {
      // Before the log was reached, nobody knows what is new.
      const from = stored === undefined ? undefined : after;
      const follower = new LogFollower(journal, {
        lastSeq: () => stored,
        from: (lastSeq) => from ?? lastSeq,
        take: (record) => send(encode(record), record.seq),
      });
      const wake = (): void => void follower.readOn();
      wakeups.add(wake);
      wake();
      return () => {
        wakeups.delete(wake);
        void follower.end();
      };
    },
  };
};

/** Makes an alert's event once for all listeners, and again if another alert has ended it since. */
const createEncoder = (firing: FiringState): ((record: StoredRecord) => string) => {
  const known = new WeakMap<StoredRecord, { endedBy: string | undefined; text: string }>();
  return (record) => {
    const resolution = firing.state.findResolution(record);
    const endedBy = resolution?.id;
    const last = known.get(record);
    if (last && last.endedBy === endedBy) return last.text;
    const text = JSON.stringify(toEntry(record, resolution));
    known.set(record, { endedBy, text });
    return text;
  };
};
