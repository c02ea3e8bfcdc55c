import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { needs } from '../../auth/access.ts';
import { callerOf } from '../../auth/guard.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { sendJson } from '../../http/json.ts';
import { ifMatchHeader, readIfMatch } from '../../http/text-forms.ts';
import type { TaskSource } from '../../kit/offers.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { StoreConflict, StoreUnavailable } from '../../lib/expected-errors.ts';
import { toLocalMinute } from '../../lib/local-time.ts';
import { cutText } from '../../lib/well-formed.ts';
import { type ActionOn, refuseSecondTask, toStaleness } from './action.ts';
import type { ShowIncident, StoredIncident } from './incident.ts';
import { requireIncident, requireIt, sendIncident, toTimeBound, withVersion } from './routes.ts';
import {
  Acknowledgement,
  BulkAcknowledgement,
  BulkResolution,
  BulkResult,
  Incident,
  IncidentParams,
  IncidentResolution,
  NewComment,
} from './schema.ts';
import type { IncidentStore } from './store.ts';

interface ActionRouteParts {
  store: IncidentStore;
  /** Undefined where there are no tasks. */
  tasks: TaskSource | undefined;
  show: ShowIncident;
  clock: () => Date;
}

const changing = needs('incidents:write');

/** What people do to incidents. */
export const createIncidentActionRoutes = (parts: ActionRouteParts): Route[] => [
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
  parts: ActionRouteParts,
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

const createAcknowledgeAllRoute = (parts: ActionRouteParts): Route =>
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

const createResolveAllRoute = (parts: ActionRouteParts): Route =>
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

const createTaskRoute = (parts: ActionRouteParts, tasks: TaskSource): Route =>
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
  Title: cutText(`#${number} ${title}`, longestTitle),
  Description: [
    `Incident #${number}: /api/incidents/${number}`,
    [level, source, hostname].filter(Boolean).join(' · '),
    `Since ${toLocalMinute(firstAt)}`,
    ...(link === null ? [] : [link]),
  ].join('\n'),
  Priority: priorities[level],
});

type Act = ActionOn extends infer A ? (A extends ActionOn ? Omit<A, 'id' | 'by'> : never) : never;

/** Does what the caller wants, and returns the incident as it is then. Throws an HttpError or a StoreConflict. */
const act = async (
  { store }: ActionRouteParts,
  request: FastifyRequest,
  { id }: StoredIncident,
  action: Act,
  expected?: readonly number[],
): Promise<StoredIncident> => {
  return requireIt(await store.act({ ...action, id, by: callerOf(request) } as ActionOn, expected), id);
};

/** The same, unless `If-Match` names other versions. */
const actIfUnchanged = async (parts: ActionRouteParts, request: FastifyRequest, id: string, action: Act) =>
  act(parts, request, await requireIncident(parts.store, id), action, readIfMatch(request.headers));

/** Does the same to each incident, once where several ids name it. */
const actOnAll = async (parts: ActionRouteParts, request: FastifyRequest, ids: readonly string[], action: Act) => {
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
