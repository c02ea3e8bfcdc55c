import Type from 'typebox';
import { openFor } from '../../auth/access.ts';
import type { IdentifySender } from '../../auth/guard.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { type JsonList, sendJson, sendList, toJsonPieces, whenReady } from '../../http/json.ts';
import { createClientSignal, createQueue } from '../../http/overload.ts';
import { type IncidentState, incidentStates } from '../../kit/incident.ts';
import type { IncidentEscalation, IncidentNotification } from '../../kit/incident-responses.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { Slice } from '../../lib/slice.ts';
import { MiB } from '../../lib/units.ts';
import { JournalError } from '../../storage/journal/errors.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { hasAlert } from './alert-spans.ts';
import { toIncidentDetails } from './description.ts';
import { toProblemId } from './folded-alert.ts';
import type { StoredIncident } from './incident.ts';
import type { IncidentFilter, IncidentList } from './incident-list.ts';
import { writeReport } from './report.ts';
import { requireIncident, toTimeBound } from './requests.ts';
import { type ShowIncident, sendIncident, toIncidentAlert, toIncidentEvent } from './responses.ts';
import { findResponsible } from './responsible.ts';
import {
  IncidentAlertPage,
  IncidentAlertQuery,
  IncidentDetails,
  IncidentPage,
  IncidentParams,
  IncidentQuery,
} from './schema.ts';
import type { IncidentStore } from './store.ts';

/** Maximum number of bytes of the alert log read per request. */
const maxReadBytes = 64 * MiB;

/** Size in bytes at which a page ends. */
const maxPageBytes = MiB;

/** Header of responses that contain an incident. */
export const withVersion = { ETag: "The incident's version, in quotes." };

/** Methods of the alert log that the routes use. */
type ReadAlerts = Pick<RecordLog, 'search' | 'find'>;

interface RouteParts {
  store: IncidentStore;
  journal: ReadAlerts;
  show: ShowIncident;
  identifySender: IdentifySender;
  /** Lists the values of `hostname` in alerts about a host. Empty for an unknown host. */
  listHostNames: (name: string) => readonly string[];
  /** Returns the last and next notification for each destination. */
  describeNotifications: (incident: StoredIncident) => readonly IncidentNotification[];
  /** Returns the position of the incident in its escalation policy. */
  describeEscalation: (incident: StoredIncident) => IncidentEscalation | null;
}

/** Creates the routes for reading incidents. */
export const createIncidentRoutes = (parts: RouteParts): Route[] => [
  createListRoute(parts),
  createReadRoute(parts),
  createAlertsRoute(parts),
  createReportRoute(parts),
];

const reading = openFor('incidents:read');

const createListRoute = ({ store, show, identifySender, listHostNames }: RouteParts): Route => {
  const queue = createQueue({ running: 4, waiting: 200, refusal: 'Too many lists of incidents are being read' });
  return defineRoute({
    method: 'GET',
    path: '/api/incidents',
    ...reading,
    summary: 'List incidents, most recently changed first',
    schema: { operationId: 'listIncidents', querystring: IncidentQuery, response: { 200: IncidentPage } },
    handler: (request, reply) => {
      const { query } = request;
      const filter = {
        ...toFilter(query, listHostNames),
        user: query.mine === 'true' ? requireUser(identifySender(request)) : undefined,
      };
      const list = async () => store.list(filter, query.limit, query.before);
      const page = queue.run(list, createClientSignal(reply)).then((found) => toPage(found, show));
      return whenReady(reply, page, (shown) => sendList(reply, shown));
    },
  });
};

/** Returns a page as JSON. The page ends early if it would become too large. */
const toPage = async ({ total, incidents, next }: IncidentList, show: ShowIncident): Promise<JsonList> => {
  const texts: string[] = [];
  let length = 0;
  const slice = new Slice();
  for (const incident of incidents) {
    if (slice.isOver) await slice.giveWay();
    const text = JSON.stringify(show(incident));
    length += text.length;
    if (texts.length > 0 && length > maxPageBytes) break;
    texts.push(text);
  }
  const last = texts.length < incidents.length ? incidents[texts.length - 1]?.change : next;
  return {
    opening: `{"count":${texts.length},"total":${total},"data":[`,
    pieces: toJsonPieces(texts),
    closing: `],"next":${last ?? null}}`,
  };
};

/** Returns the name of the user who sent a request. Throws an HttpError for other senders. */
const requireUser = (sender: string): string => {
  const [, name] = /^user:(.*)$/.exec(sender) ?? [];
  if (name === undefined)
    throw new HttpError(
      'invalid',
      "The filter mine shows your own incidents, so the filter needs a user's token: log in",
    );
  return name;
};

const toFilter = (
  { state, level, source, hostname, q, since, until }: IncidentQuery,
  listHostNames: RouteParts['listHostNames'],
): IncidentFilter => {
  const number = /^#(\d{1,15})$/.exec(q ?? '')?.[1];
  return {
    states: toStates(state),
    level,
    source: source?.toLowerCase(),
    hostnames: hostname === undefined ? undefined : [hostname.toLowerCase(), ...listHostNames(hostname)],
    q: number === undefined ? q?.toLowerCase() : undefined,
    number: number === undefined ? undefined : Number(number),
    since: toTimeBound('since', since),
    until: toTimeBound('until', until),
  };
};

const toStates = (state: IncidentQuery['state']): readonly IncidentState[] => {
  if (state === 'active') return ['open', 'acknowledged'];
  return state === 'all' ? incidentStates : [state];
};

const createReadRoute = ({ store, journal, show, describeNotifications, describeEscalation }: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/incidents/:id',
    ...reading,
    summary: 'Get an incident with its timeline and notifications',
    headers: { response: withVersion },
    schema: {
      operationId: 'getIncident',
      params: IncidentParams,
      response: { 200: IncidentDetails, 404: ErrorBody },
    },
    handler: async ({ params: { id } }, reply) => {
      const incident = await requireIncident(store, id);
      const { lastAlert: lastId, firingAlert: firingId = lastId } = incident;
      const find = (alertId: string) => journal.find(alertId).catch(passIfUnreadable);
      const [events, last, firing] = await Promise.all([
        store.listEvents(incident.id),
        find(lastId),
        firingId === lastId ? undefined : find(firingId),
      ]);
      return sendIncident(reply, show, incident, {
        timeline: events.map(toIncidentEvent),
        lastAlert: last ? toIncidentAlert(last) : null,
        details: toIncidentDetails(firing ?? last),
        escalation: describeEscalation(incident),
        responsible: findResponsible(incident),
        notifications: describeNotifications(incident),
      });
    },
  });

/** Returns undefined if the alert is currently unreadable. The incident itself can still be shown. */
const passIfUnreadable = (error: unknown): undefined => {
  if (error instanceof JournalError || error instanceof StoreUnavailable) return undefined;
  throw error;
};

const createAlertsRoute = ({ store, journal }: RouteParts): Route => {
  // A request may read a lot, so limited concurrency leaves CPU and disk to other requests.
  const queue = createQueue({ running: 2, waiting: 32, refusal: 'Too many lists of alerts are being read' });
  return defineRoute({
    method: 'GET',
    path: '/api/incidents/:id/alerts',
    ...reading,
    summary: 'List the alerts of an incident, newest first',
    schema: {
      operationId: 'listIncidentAlerts',
      params: IncidentParams,
      querystring: IncidentAlertQuery,
      response: { 200: IncidentAlertPage, 404: ErrorBody },
    },
    handler: async ({ params: { id }, query }, reply) => {
      const incident = await requireIncident(store, id);
      const search = () => searchAlerts(journal, incident, query);
      const { records, next } = await queue.run(search, createClientSignal(reply));
      const data = records.map(toIncidentAlert);
      return sendJson(reply, { count: data.length, data, next: next ?? null });
    },
  });
};

/**
 * Searches the alerts of an incident, newest first. Alerts in the overflow incident share no key, so they cannot be
 * found.
 */
const searchAlerts = async (
  journal: ReadAlerts,
  incident: StoredIncident,
  { limit, before }: { limit: number; before?: number },
): Promise<{ records: StoredRecord[]; next: number | undefined }> => {
  const { trait, key, spans } = incident;
  if (trait === 'overflow') return { records: [], next: undefined };
  const [firstSeq] = spans[0] ?? [0];
  const end = Math.max(...spans.map(([, last]) => last)) + 1;
  const { records, next } = await journal.search({
    before: Math.min(before ?? end, end),
    since: incident.firstAt,
    test: (record) => hasAlert(spans, record.seq) && toProblemId(record) === key,
    limit,
    maxBytes: maxReadBytes,
    maxFoundBytes: maxPageBytes,
  });
  return { records, next: next !== undefined && next > firstSeq ? next : undefined };
};

const ReportText = Type.String({ examples: ['# Incident #412: disk is full'] });

const createReportRoute = ({ store }: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/incidents/:id/report',
    ...reading,
    summary: 'Get the timeline of an incident as Markdown, for a review',
    schema: {
      operationId: 'getIncidentReport',
      params: IncidentParams,
      response: { 200: { content: { 'text/markdown': { schema: ReportText } } }, 404: ErrorBody },
    },
    handler: async ({ params: { id } }, reply) => {
      const incident = await requireIncident(store, id);
      const report = writeReport(incident, await store.listEvents(incident.id));
      return reply.type('text/markdown; charset=utf-8').send(report);
    },
  });
