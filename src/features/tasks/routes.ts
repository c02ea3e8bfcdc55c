import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { needs, openFor } from '../../auth/access.ts';
import { principalOf } from '../../auth/guard.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { ownJson, pagingHeaders, sendJson, sendList, setPaging, whenReady } from '../../http/json.ts';
import { idempotencyHeader, ifMatchHeader, readIfMatch, readRepeatId } from '../../http/text-forms.ts';
import type { Parts } from '../../kit/feature.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { TaskId } from '../../kit/shape.ts';
import type { Publish } from '../../kit/topic.ts';
import type { Awaitable } from '../../storage/list.ts';
import { toTaskRefusal } from './refusal.ts';
import {
  NewTask,
  Task,
  TaskChanges,
  TaskDeleted,
  TaskHealth,
  TaskList,
  TaskQuery,
  TaskRefusal,
  UserTaskList,
} from './schema.ts';
import type { StoredTask, TaskMatches, TaskStore } from './store.ts';

const params = Type.Object({ id: TaskId });

const withVersion = { ETag: "The task's version, in quotes." };

/** Creates the list route of the `tasks` profile, without a token. */
export const createTaskListRoute = (store: TaskStore): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/tasks',
    ...openFor('tasks:read'),
    isSpecified: true,
    summary: 'List tasks, in order of creation or newest first',
    headers: { response: pagingHeaders },
    schema: { operationId: 'listTasks', querystring: TaskQuery, response: { 200: TaskList } },
    handler: ({ query }, reply) => {
      const { limit, after, order, status, priority } = query;
      if (order === 'newest') return sendNewest(reply, store, query);
      return sendMatches(reply, query, limit, store.list({ status, priority }, limit, after), 'after');
    },
  });

/** Maximum number of tasks on a page, newest first. */
const maxNewest = 1000;

/** Maximum length in characters of a search text. */
const maxSearchLength = 256;

const sendNewest = (reply: FastifyReply, store: TaskStore, query: TaskQuery) => {
  const { status, priority, q, after } = query;
  if (after > 0) throw new HttpError('invalid', 'after cannot be used with order=newest: use before');
  if ((q ?? '').length > maxSearchLength)
    throw new HttpError('invalid', `q has more than ${maxSearchLength} characters`);
  const limit = Math.min(query.limit, maxNewest);
  const found = store.search({ status, priority, q, before: toBefore(query.before), limit });
  return sendMatches(reply, query, limit, found, 'before');
};

/** Sends matches with links to further pages. `place` is the query parameter for the start of the next page. */
const sendMatches = (
  reply: FastifyReply,
  query: TaskQuery,
  limit: number,
  matches: Awaitable<TaskMatches>,
  place: 'after' | 'before',
) =>
  whenReady(reply, matches, ({ total, count, pieces, next }) => {
    setPaging(reply, total, query, { next: next === undefined ? undefined : { [place]: next } });
    const opening = `{"total":${total},"count":${count},"limit":${limit},"data":[`;
    return sendList(reply, { opening, pieces, closing: ']}' });
  });

const toBefore = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  if (!/^[0-9]{1,15}$/.test(text) || Number(text) === 0)
    throw new HttpError('invalid', 'before must be the id of a task');
  return Number(text);
};

/** Creates the list route of the `protected-tasks` profile, with a token. */
export const createProtectedTaskListRoute = (store: TaskStore): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/tasks',
    ...needs('items:read'),
    isSpecified: true,
    summary: 'List all tasks, and return the name of the caller',
    schema: { operationId: 'listTasks', response: { 200: UserTaskList } },
    handler: (request, reply) =>
      whenReady(reply, store.list({}, Number.MAX_SAFE_INTEGER), ({ total, count, pieces }) => {
        setPaging(reply, total);
        const user = JSON.stringify(principalOf(request).name);
        return sendList(reply, {
          opening: `{"user":${user},"count":${count},"data":[`,
          pieces,
          closing: ']}',
        });
      }),
  });

/** Creates the routes for single tasks in both profiles. Each change is published as `{ id, kind }`. */
export const createTaskRoutes = (store: TaskStore, publish: Publish = () => undefined): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/tasks/:id',
    ...openFor('tasks:read'),
    isSpecified: true,
    summary: 'Get a task',
    headers: { response: withVersion },
    schema: { operationId: 'getTask', params, response: { 200: Task } },
    handler: ({ params: { id } }, reply) =>
      whenReady(reply, store.find(toTaskId(id)), (task) => {
        if (!task) throw toAbsence(id);
        sendTask(reply, task);
      }),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/tasks',
    ...openFor('tasks:write'),
    isSpecified: true,
    summary: 'Create a task',
    headers: { request: idempotencyHeader, response: withVersion },
    textsAsSent: true,
    schema: {
      operationId: 'createTask',
      body: NewTask,
      response: { 201: Task, 400: TaskRefusal, 422: ErrorBody },
    },
    schemaErrorFormatter: toTaskRefusal,
    handler: ({ body, headers }, reply) => {
      const key = readRepeatId(headers);
      const created = store.create(body, key === undefined ? undefined : { key, bodyHash: hashFields(body) });
      return whenReady(reply, created, (task) => {
        publish(() => ({ id: task.id, kind: 'created' }));
        sendTask(reply.code(201), task);
      });
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/api/tasks/:id',
    ...openFor('tasks:write'),
    isSpecified: true,
    summary: 'Change a task',
    headers: { request: ifMatchHeader, response: withVersion },
    textsAsSent: true,
    schema: {
      operationId: 'updateTask',
      params,
      body: TaskChanges,
      response: { 200: Task, 400: TaskRefusal, 412: ErrorBody },
    },
    schemaErrorFormatter: toTaskRefusal,
    // A missing task is reported before errors in the body.
    preParsing: async ({ params }) => {
      const { id } = params as { id: string };
      if (!(await store.find(toTaskId(id)))) throw toAbsence(id);
    },
    preValidation: ({ body }, _reply, done) => {
      dropEmptyFields(body ?? {});
      done();
    },
    handler: ({ params: { id }, body, headers }, reply) =>
      whenReady(reply, store.update(toTaskId(id), body, readIfMatch(headers)), (task) => {
        if (!task) throw toAbsence(id);
        publish(() => ({ id: task.id, kind: 'updated' }));
        sendTask(reply, task);
      }),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/tasks/:id',
    ...openFor('tasks:write'),
    isSpecified: true,
    summary: 'Delete a task',
    headers: { request: ifMatchHeader },
    schema: { operationId: 'deleteTask', params, response: { 200: TaskDeleted, 412: ErrorBody } },
    handler: ({ params: { id }, headers }, reply) =>
      whenReady(reply, store.remove(toTaskId(id), readIfMatch(headers)), (remaining) => {
        if (remaining === undefined) throw toAbsence(id);
        publish(() => ({ id: toTaskId(id), kind: 'deleted' }));
        sendJson(reply, { message: `Task with Id=${id} deleted`, remaining });
      }),
  }),
];

/**
 * Creates the health check for tasks. If the profile `monitoring` is on the same mount, its route replaces this route.
 */
export const createHealthRoute = ({ clock, host, version }: Pick<Parts, 'clock' | 'host' | 'version'>): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/health',
    isVital: true,
    ...openFor('machine:read'),
    isSpecified: true,
    summary: 'Get the health and versions of the server',
    yieldsTo: 'monitoring',
    schema: { operationId: 'getHealth', response: { 200: TaskHealth } },
    handler: async () => ({
      status: 'healthy' as const,
      timestamp: clock().toISOString(),
      version,
      machine: host.hostname(),
      pwsh: process.versions.node,
    }),
  });

const sendTask = (reply: FastifyReply, { version, text }: StoredTask): void =>
  sendJson(reply.header('etag', `"${version}"`), { [ownJson]: text });

/** Returns a hash of the fields, independent of their order. */
const hashFields = ({ Title, Description, Priority, Status }: NewTask): string =>
  createHash('sha256')
    .update(JSON.stringify([Title, Description, Priority, Status]))
    .digest('base64url');

/** Parses an id in canonical decimal form. Returns 0 for any other text, because 0 is never an id. */
const toTaskId = (text: string): number => (/^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0);

const toAbsence = (id: string): HttpError => new HttpError('not-found', `Task with Id=${id} not found`);

const dropEmptyFields = (body: object): void => {
  const fields = body as Record<string, unknown>;
  for (const [name, value] of Object.entries(fields)) {
    if (value === '') delete fields[name];
  }
};
