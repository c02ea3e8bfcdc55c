import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { needs } from '../../auth/access.ts';
import { callerOf } from '../../auth/guard.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { sendJson } from '../../http/json.ts';
import { ifMatchHeader, readIfMatch } from '../../http/text-forms.ts';
import type { EscalationStep } from '../../kit/incident-source.ts';
import type { TaskSource } from '../../kit/offers.ts';
import { joinTarget } from '../../kit/people.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { StoreConflict, StoreUnavailable } from '../../lib/expected-errors.ts';
import { toLocalMinute } from '../../lib/local-time.ts';
import { cutText } from '../../lib/well-formed.ts';
import { type ActionOn, refuseSecondTask, toStaleness } from './action.ts';
import type { StoredIncident } from './incident.ts';
import { findMentions } from './mentions.ts';
import { requireFound, requireIncident, toTimeBound } from './requests.ts';
import { type ShowIncident, sendIncident } from './responses.ts';
import { withVersion } from './routes.ts';
import {
  Acknowledgement,
  BulkAcknowledgement,
  BulkResolution,
  BulkResult,
  Incident,
  IncidentParams,
  IncidentResolution,
  NewComment,
  NewResponders,
  TakingOver,
} from './schema.ts';
import type { IncidentStore } from './store.ts';

interface ActionRouteParts {
  store: IncidentStore;
  /** Source of tasks. Undefined unless tasks are mounted. */
  tasks: TaskSource | undefined;
  show: ShowIncident;
  /** Returns the next escalation step. Undefined after the last step. */
  nextStep(incident: StoredIncident): EscalationStep | undefined;
  /** Returns the names of all users. Undefined while the users are unknown. */
  listPeople(): readonly string[] | undefined;
  clock: () => Date;
}

const changing = needs('incidents:write');

/** Creates the routes for actions on incidents. */
export const createIncidentActionRoutes = (parts: ActionRouteParts): Route[] => [
  createActionRoute(parts, {
    name: 'acknowledge',
    operationId: 'acknowledgeIncident',
    summary: 'Acknowledge an incident, optionally until a time',
    body: Acknowledgement,
    isOptional: true,
    canConflict: true,
    toAction: (body) => ({ type: 'acknowledge', ...readAcknowledgement(body, parts.clock()) }),
  }),
  createActionRoute(parts, {
    name: 'resolve',
    operationId: 'resolveIncident',
    summary: 'Resolve an incident',
    body: IncidentResolution,
    isOptional: true,
    toAction: ({ comment }) => ({ type: 'resolve', comment }),
  }),
  createActionRoute(parts, {
    name: 'reopen',
    operationId: 'reopenIncident',
    summary: 'Reopen an incident',
    canConflict: true,
    toAction: () => ({ type: 'reopen' }),
  }),
  createActionRoute(parts, {
    name: 'comment',
    operationId: 'commentOnIncident',
    summary: 'Add a comment to an incident; `@NAME` notifies a user',
    body: NewComment,
    toAction: ({ comment }) => {
      const mentions = findMentions(comment, parts.listPeople() ?? []);
      return { type: 'comment', comment, ...(mentions.length > 0 && { mentions }) };
    },
  }),
  createActionRoute(parts, {
    name: 'take-over',
    operationId: 'takeOverIncident',
    summary: 'Take over an incident from the user who acknowledged it, and notify that user',
    body: TakingOver,
    isOptional: true,
    canConflict: true,
    toAction: ({ comment }) => ({ type: 'takeOver', comment }),
  }),
  createActionRoute(parts, {
    name: 'responders',
    operationId: 'addResponders',
    summary: 'Ask users to help with an incident, and notify them',
    body: NewResponders,
    canConflict: true,
    toAction: ({ people, comment }) => ({
      type: 'address',
      targets: toTargets(people, parts.listPeople()),
      reason: 'responder',
      comment,
    }),
  }),
  createEscalateRoute(parts),
  createAcknowledgeAllRoute(parts),
  createResolveAllRoute(parts),
  ...(parts.tasks ? [createTaskRoute(parts, parts.tasks)] : []),
];

/** Route members that accept a request without a body. */
const acceptNoBody = {
  preValidation: (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    request.body ??= {};
    done();
  },
};

const readAcknowledgement = ({ comment, until }: { comment?: string; until?: string }, now: Date) => {
  const end = toTimeBound('until', until);
  if (end !== undefined && end <= now.getTime()) throw new HttpError('invalid', 'until must be in the future');
  return { comment, until: end };
};

/** Returns the targets for the named users. Throws an HttpError for an unknown user. */
const toTargets = (names: readonly string[], known: readonly string[] | undefined): string[] => {
  const unknown = known && names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new HttpError('invalid', `people: there is no user ${unknown}`);
  return [...new Set(names)].map((name) => joinTarget('person', name));
};

interface IncidentAction<B extends TSchema> {
  /** Last segment of the path. */
  name: string;
  operationId: string;
  summary: string;
  body?: B;
  /** True if the body can be missing. */
  isOptional?: true;
  /** True if the state of the incident can forbid the action. */
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
      const incident = await requireIncident(parts.store, request.params.id);
      const changed = await act(parts, request, incident, action, readIfMatch(request.headers));
      return sendIncident(reply, parts.show, changed);
    },
  });

const createEscalateRoute = (parts: ActionRouteParts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/incidents/:id/escalate',
    ...changing,
    summary: "Take the next step of an incident's escalation policy now",
    headers: { request: ifMatchHeader, response: withVersion },
    schema: {
      operationId: 'escalateIncident',
      params: IncidentParams,
      response: { 200: Incident, 404: ErrorBody, 409: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const incident = await requireIncident(parts.store, request.params.id);
      const { number, state } = incident;
      const refuse = (reason: string) => new HttpError('wrong-state', `Incident #${number} ${reason}`);
      if (state !== 'open') throw refuse(`is ${state}: reopen the incident first`);
      if (parts.show(incident).silencedBy.length > 0) throw refuse('is silenced: end the silence first');
      const step = parts.nextStep(incident);
      if (!step || step.targets.length === 0) throw refuse('has no further escalation step');
      const { opening, after, place, targets } = step;
      const action = { type: 'escalate', opening, after, place, targets } as const;
      return sendIncident(reply, parts.show, await act(parts, request, incident, action, readIfMatch(request.headers)));
    },
  });

const createAcknowledgeAllRoute = (parts: ActionRouteParts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/incidents/acknowledge',
    ...changing,
    summary: 'Acknowledge several incidents',
    schema: { operationId: 'acknowledgeIncidents', body: BulkAcknowledgement, response: { 200: BulkResult } },
    handler: async (request, reply) => {
      const action = { type: 'acknowledge', ...readAcknowledgement(request.body, parts.clock()) } as const;
      return sendJson(reply, await actOnAll(parts, request, request.body.ids, action));
    },
  });

const createResolveAllRoute = (parts: ActionRouteParts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/incidents/resolve',
    ...changing,
    summary: 'Resolve several incidents',
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
    summary: 'Create a task for an incident',
    headers: { request: ifMatchHeader, response: withVersion },
    schema: {
      operationId: 'createIncidentTask',
      params: IncidentParams,
      response: { 201: Incident, 404: ErrorBody, 409: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const incident = await requireIncident(parts.store, request.params.id);
      const expected = readIfMatch(request.headers);
      if (expected && !expected.includes(incident.version)) throw toStaleness(incident);
      if (incident.task !== null) throw refuseSecondTask(incident);
      const task = await tasks.create(toTask(incident), `incident ${incident.id}`);
      // The task now exists, so even a newer version of the incident gets it.
      const changed = await act(parts, request, incident, { type: 'task', task });
      return sendIncident(reply.code(201), parts.show, changed);
    },
  });

/**
 * Maximum number of code points in the title of a task. Applied here to UTF-16 units, so the title never has more code
 * points.
 */
const maxTaskTitle = 200;

const priorities = { CRITICAL: 'Critical', ERROR: 'High', WARNING: 'Medium', INFO: 'Low' } as const;

const toTask = ({ number, title, level, source, hostname, firstAt, link }: StoredIncident) => ({
  Title: cutText(`#${number} ${title}`, maxTaskTitle),
  Description: [
    `Incident #${number}: /api/incidents/${number}`,
    [level, source, hostname].filter(Boolean).join(' · '),
    `Since ${toLocalMinute(firstAt)}`,
    ...(link === null ? [] : [link]),
  ].join('\n'),
  Priority: priorities[level],
});

/** Action without its incident and author. */
type Act = ActionOn extends infer A ? (A extends ActionOn ? Omit<A, 'id' | 'by'> : never) : never;

/**
 * Applies an action on behalf of the caller. Resolves to the changed incident. Rejects with an HttpError if the action
 * is not possible, or with a StoreConflict if the incident has changed.
 */
const act = async (
  { store }: ActionRouteParts,
  request: FastifyRequest,
  { id }: StoredIncident,
  action: Act,
  expected?: readonly number[],
): Promise<StoredIncident> =>
  requireFound(await store.act({ ...action, id, by: callerOf(request) } as ActionOn, expected), id);

/** Applies an action to each incident. If several ids name the same incident, applies the action only once. */
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

/** Returns the response status for an expected error. Undefined for any other error. */
const statusOf = (error: unknown): number | undefined => {
  if (error instanceof HttpError) return error.status;
  if (error instanceof StoreConflict) return 412;
  return error instanceof StoreUnavailable ? 503 : undefined;
};
