import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import Type from 'typebox';
import { callerOf } from '../../auth/guard.ts';
import { StoreConflict, StoreUnavailable } from '../../expected-errors.ts';
import { ErrorBody, HttpError, requireKnown } from '../../http/errors.ts';
import { ownJson, sendJson } from '../../http/json.ts';
import { createClientSignal, createQueue } from '../../http/overload.ts';
import { ifMatchHeader, readIfMatch, requireTime } from '../../http/text-forms.ts';
import { JournalError } from '../../storage/journal/errors.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import type { IncidentNotification, TaskSource } from '../offers.ts';
import { defineRoute, type Route, uuidForm } from '../route.ts';
import { type ActionOn, refuseSecondTask, toStaleness } from './fold.ts';
import {
  hasAlert,
  type ShowIncident,
  type StoredIncident,
  toIncidentAlert,
  toIncidentEvent,
  toIncidentKey,
  writeReport,
} from './incident.ts';
import {
  Acknowledgement,
  BulkAcknowledgement,
  BulkResolution,
  BulkResult,
  Incident,
  IncidentAlertPage,
  IncidentAlertQuery,
  IncidentDetails,
  IncidentPage,
  IncidentParams,
  IncidentQuery,
  IncidentResolution,
  type IncidentState,
  incidentStates,
  NewComment,
} from './schema.ts';
import type { IncidentFilter, IncidentStore, ReadAlerts } from './store.ts';

const MiB = 1024 * 1024;

/** Bytes of the alert log that one request may read, and bytes of alerts after which a page ends. */
const maxReadBytes = 64 * MiB;
const maxPageBytes = MiB;

const withVersion = { ETag: "The incident's version, in quotes." };

interface RouteParts {
  store: IncidentStore;
  journal: ReadAlerts;
  /** Undefined where there are no tasks. */
  tasks: TaskSource | undefined;
  show: ShowIncident;
  /** The last and next notification of each destination. */
  describeNotifications: (incident: StoredIncident) => readonly IncidentNotification[];
  clock: () => Date;
}

export const createIncidentRoutes = (parts: RouteParts): Route[] => [
  createListRoute(parts),
  createReadRoute(parts),
  createAlertsRoute(parts),
  createReportRoute(parts),
  createActionRoute(parts, {
    ...{ name: 'acknowledge', operationId: 'acknowledgeIncident', body: Acknowledgement },
    ...{ summary: 'Take an incident, for some time or for good', isOptional: true, canConflict: true },
    toAction: (body) => ({ type: 'acknowledge', ...toAcknowledgement(body, parts.clock()) }),
  }),
  createActionRoute(parts, {
    ...{ name: 'resolve', operationId: 'resolveIncident', body: IncidentResolution, isOptional: true },
    summary: 'Say that an incident is over',
    toAction: ({ comment }) => ({ type: 'resolve', comment }),
  }),
  createActionRoute(parts, {
    ...{ name: 'reopen', operationId: 'reopenIncident', summary: 'Open an incident again', canConflict: true },
    toAction: () => ({ type: 'reopen' }),
  }),
  createActionRoute(parts, {
    ...{ name: 'comment', operationId: 'commentOnIncident', body: NewComment, summary: 'Add a comment to an incident' },
    toAction: ({ comment }) => ({ type: 'comment', comment }),
  }),
  createAcknowledgeAllRoute(parts),
  createResolveAllRoute(parts),
  ...(parts.tasks ? [createTaskRoute(parts, parts.tasks)] : []),
];

const reading = { access: 'open', scope: 'incidents:read' } as const;
const changing = { access: 'token', scope: 'incidents:write' } as const;

const createListRoute = ({ store, show }: RouteParts): Route => {
  const queue = createQueue({ running: 4, waiting: 200, refusal: 'Too many lists of incidents are being read' });
  return defineRoute({
    method: 'GET',
    path: '/api/incidents',
    ...reading,
    summary: 'List incidents, the one that changed last first',
    schema: { operationId: 'listIncidents', querystring: IncidentQuery, response: { 200: IncidentPage } },
    handler: async ({ query }, reply) => {
      const filter = toFilter(query);
      const list = async () => store.list(filter, query.limit, query.before);
      const { total, incidents, next } = await queue.run(list, createClientSignal(reply));
      return sendPage(reply, show, total, incidents, next);
    },
  });
};

/** A page ends early where it would be too long. */
const sendPage = (
  reply: FastifyReply,
  show: ShowIncident,
  total: number,
  incidents: readonly StoredIncident[],
  next: number | undefined,
): void => {
  const texts: string[] = [];
  let length = 0;
  for (const incident of incidents) {
    const text = JSON.stringify(show(incident));
    length += text.length;
    if (texts.length > 0 && length > maxPageBytes) break;
    texts.push(text);
  }
  const last = texts.length < incidents.length ? incidents[texts.length - 1]?.change : next;
  const data = `"data":[${texts.join(',')}],"next":${last ?? null}`;
  sendJson(reply, { [ownJson]: `{"count":${texts.length},"total":${total},${data}}` });
};

const toFilter = ({ state, level, source, hostname, q, since, until }: IncidentQuery): IncidentFilter => {
  const number = /^#(\d{1,15})$/.exec(q ?? '')?.[1];
  return {
    states: toStates(state),
    level,
    source: source?.toLowerCase(),
    hostname: hostname?.toLowerCase(),
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

const toTimeBound = (name: string, text: string | undefined): number | undefined =>
  text === undefined || text === '' ? undefined : requireTime(name, text);

const createReadRoute = ({ store, journal, show, describeNotifications }: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/incidents/:id',
    ...reading,
    summary: 'Everything about one incident',
    headers: { response: withVersion },
    schema: {
      operationId: 'getIncident',
      params: IncidentParams,
      response: { 200: IncidentDetails, 404: ErrorBody },
    },
    handler: async ({ params: { id } }, reply) => {
      const incident = await requireIncident(store, id);
      const [events, alert] = await Promise.all([
        store.listEvents(incident.id),
        journal.find(incident.lastAlert).catch(passIfUnreadable),
      ]);
      const lastAlert = alert ? toIncidentAlert(alert) : null;
      const notifications = describeNotifications(incident);
      return sendIncident(reply, show, incident, { timeline: events.map(toIncidentEvent), lastAlert, notifications });
    },
  });

/** An alert that cannot be found at the moment; the rest of the incident is known nevertheless. */
const passIfUnreadable = (error: unknown): undefined => {
  if (error instanceof JournalError || error instanceof StoreUnavailable) return undefined;
  throw error;
};

const createAlertsRoute = ({ store, journal }: RouteParts): Route => {
  // Each may read a lot: few at a time leave the processor and the disk to other requests.
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

/** Those of the one incident of all that are too many have nothing in common by which they could be found. */
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
    test: (record) => hasAlert(incident, record.seq) && toIncidentKey(record) === key,
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
    summary: 'The timeline of an incident as Markdown, for the review afterwards',
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

/** A body that may be left out. */
const acceptNoBody = {
  preValidation: (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    request.body ??= {};
    done();
  },
};

const toAcknowledgement = ({ comment, until }: { comment?: string; until?: string }, now: Date) => {
  const end = toTimeBound('until', until);
  if (end !== undefined && end <= now.getTime()) {
    throw new HttpError('invalid', 'until must be in the future');
  }
  return { comment, until: end };
};

interface IncidentAction<B extends TSchema> {
  /** The last part of the path. */
  name: string;
  operationId: string;
  summary: string;
  body?: B;
  /** The body may be left out. */
  isOptional?: true;
  /** Its state may forbid it. */
  canConflict?: true;
  toAction(body: Static<B>): Act;
}

const createActionRoute = <B extends TSchema>(
  parts: RouteParts,
  { name, operationId, summary, body, isOptional, canConflict, toAction }: IncidentAction<B>,
): Route =>
  defineRoute({
    method: 'POST',
    path: `/api/incidents/:id/${name}`,
    ...changing,
    summary,
    headers: { request: ifMatchHeader, response: withVersion },
    schema: {
      operationId,
      params: IncidentParams,
      ...(body && { body }),
      response: { 200: Incident, 404: ErrorBody, ...(canConflict && { 409: ErrorBody }), 412: ErrorBody },
    },
    ...(isOptional && acceptNoBody),
    handler: async (request, reply) => {
      const action = toAction(request.body as Static<B>);
      return sendIncident(reply, parts.show, await actIfUnchanged(parts, request, request.params.id, action));
    },
  });

const createAcknowledgeAllRoute = (parts: RouteParts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/incidents/acknowledge',
    ...changing,
    summary: 'Take several incidents',
    schema: { operationId: 'acknowledgeIncidents', body: BulkAcknowledgement, response: { 200: BulkResult } },
    handler: async (request, reply) => {
      const action = { type: 'acknowledge', ...toAcknowledgement(request.body, parts.clock()) } as const;
      return sendJson(reply, await actOnAll(parts, request, request.body.ids, action));
    },
  });

const createResolveAllRoute = (parts: RouteParts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/incidents/resolve',
    ...changing,
    summary: 'Say that several incidents are over',
    schema: { operationId: 'resolveIncidents', body: BulkResolution, response: { 200: BulkResult } },
    handler: async (request, reply) => {
      const action = { type: 'resolve', comment: request.body.comment } as const;
      return sendJson(reply, await actOnAll(parts, request, request.body.ids, action));
    },
  });

const createTaskRoute = (parts: RouteParts, tasks: TaskSource): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/incidents/:id/task',
    ...changing,
    summary: 'Create a task for what is left to do about an incident',
    headers: { request: ifMatchHeader, response: withVersion },
    schema: {
      operationId: 'createIncidentTask',
      params: IncidentParams,
      response: { 201: Incident, 404: ErrorBody, 409: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const { id } = request.params;
      const incident = await requireIncident(parts.store, id);
      const expected = readIfMatch(request.headers);
      if (expected && !expected.includes(incident.version)) throw toStaleness(incident);
      if (incident.task !== null) throw refuseSecondTask(incident);
      const task = await tasks.create(toTask(incident), `incident ${incident.id}`);
      // The task exists now, whatever happens to the incident meanwhile.
      const changed = await act(parts, request, incident, { type: 'task', task });
      return sendIncident(reply.code(201), parts.show, changed);
    },
  });

/** The most characters of a task's title; it counts code points, of which a text has no more than characters. */
const longestTitle = 200;

const priorities = { CRITICAL: 'Critical', ERROR: 'High', WARNING: 'Medium', INFO: 'Low' } as const;

const toTask = ({ number, title, level, source, hostname, firstAt, link }: StoredIncident) => ({
  Title: `#${number} ${title}`.slice(0, longestTitle).replace(/[\ud800-\udbff]$/, ''),
  Description: [
    `Incident #${number}: /api/incidents/${number}`,
    [level, source, hostname].filter(Boolean).join(' · '),
    `Since ${new Date(firstAt).toISOString()}`,
    ...(link === null ? [] : [link]),
  ].join('\n'),
  Priority: priorities[level],
});

type Act = ActionOn extends infer A ? (A extends ActionOn ? Omit<A, 'id' | 'by'> : never) : never;

/** Does what the caller wants, and returns the incident as it is then. Throws an HttpError or a StoreConflict. */
const act = async (
  { store }: RouteParts,
  request: FastifyRequest,
  { id }: StoredIncident,
  action: Act,
  expected?: readonly number[],
): Promise<StoredIncident> => {
  return requireIt(await store.act({ ...action, id, by: callerOf(request) } as ActionOn, expected), id);
};

/** The same, unless `If-Match` names other versions. */
const actIfUnchanged = async (parts: RouteParts, request: FastifyRequest, id: string, action: Act) =>
  act(parts, request, await requireIncident(parts.store, id), action, readIfMatch(request.headers));

/** Does the same to each incident, once where several ids name it. */
const actOnAll = async (parts: RouteParts, request: FastifyRequest, ids: readonly string[], action: Act) => {
  const acts = new Map<string, Promise<StoredIncident>>();
  const data = await Promise.all(
    ids.map(async (id) => {
      try {
        const found = await requireIncident(parts.store, id);
        const changing = acts.get(found.id) ?? act(parts, request, found, action);
        acts.set(found.id, changing);
        const incident = await changing;
        return { id, status: 200, incident: parts.show(incident), error: null };
      } catch (error) {
        const status = statusOf(error);
        if (status === undefined) throw error;
        return { id, status, incident: null, error: (error as Error).message };
      }
    }),
  );
  return { count: data.length, data };
};

/** The status that a request of its own would have got; undefined for an unexpected error. */
const statusOf = (error: unknown): number | undefined => {
  if (error instanceof HttpError) return error.status;
  if (error instanceof StoreConflict) return 412;
  return error instanceof StoreUnavailable ? 503 : undefined;
};

/** By the id or number in a path. Rejects with an HttpError if there is none. */
export const requireIncident = async (store: Pick<IncidentStore, 'find'>, id: string): Promise<StoredIncident> => {
  const text = id.toLowerCase();
  const name = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : text;
  const incident = typeof name === 'number' || uuidForm.test(name) ? await store.find(name) : undefined;
  return requireIt(incident, id);
};

const requireIt = (incident: StoredIncident | undefined, id: string): StoredIncident =>
  requireKnown(incident, 'Incident', id, '/api/incidents?state=all');

const sendIncident = (reply: FastifyReply, show: ShowIncident, incident: StoredIncident, more: object = {}): void =>
  sendJson(reply.header('etag', `"${incident.version}"`), { ...show(incident), ...more });
