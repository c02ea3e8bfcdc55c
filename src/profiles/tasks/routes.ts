import Type from 'typebox';
import { HttpError } from '../../http/response/errors.ts';
import { sendJson } from '../../http/response/json-list.ts';
import { ErrorBody } from '../../http/response/schema.ts';
import { defineRoute, defineTextRoute, type Route } from '../route.ts';
import { toListAnswer } from './list-answer.ts';
import { NewTask, Task, TaskChanges, TaskDeleted, TaskList, TaskQuery, TaskRefusal } from './schema.ts';
import type { TaskStore } from './store.ts';
import { toTaskRefusal } from './validation.ts';

const params = Type.Object({ id: Type.String({ description: 'Id of a task, in decimal digits.' }) });

/** Profile `tasks`: the list, open to all. */
export const createListRoute = (store: TaskStore): Route =>
  defineTextRoute({
    method: 'GET',
    path: '/api/tasks',
    access: 'open',
    summary: 'List tasks, in order of creation',
    schema: { querystring: TaskQuery, response: { 200: TaskList, 400: ErrorBody } },
    respond: ({ query: { limit, ...filter } }) => {
      const selection = store.list(filter, limit);
      const { total, count } = selection;
      return toListAnswer(`{"total":${total},"count":${count},"limit":${limit},"data":[`, selection);
    },
  });

/** One task at a time: what `tasks` and `protected-tasks` have in common. */
export const createTaskRoutes = (store: TaskStore): Route[] => [
  defineTextRoute({
    method: 'GET',
    path: '/api/tasks/:id',
    access: 'open',
    summary: 'Read one task',
    schema: { params, response: { 200: Task, 404: ErrorBody } },
    respond: ({ params: { id } }) => ({ text: store.find(toTaskId(id)) ?? refuse(id) }),
  }),
  defineTextRoute({
    method: 'POST',
    path: '/api/tasks',
    access: 'open',
    summary: 'Create a task',
    schema: { body: NewTask, response: { 201: Task, 400: TaskRefusal } },
    schemaErrorFormatter: toTaskRefusal,
    respond: ({ body }) => ({ status: 201, text: store.create(body) }),
  }),
  defineRoute({
    method: 'PUT',
    path: '/api/tasks/:id',
    access: 'open',
    summary: 'Change a task',
    schema: { params, body: TaskChanges, response: { 200: Task, 400: TaskRefusal, 404: ErrorBody } },
    schemaErrorFormatter: toTaskRefusal,
    // An absent task is told before anything about the body.
    preParsing: ({ params }, _reply, payload, done) => {
      const { id } = params as { id: string };
      done(store.find(toTaskId(id)) ? null : toAbsence(id), payload);
    },
    preValidation: ({ body }, _reply, done) => {
      dropEmptyFields(body ?? {});
      done();
    },
    handler: ({ params: { id }, body }, reply) =>
      sendJson(reply, store.update(toTaskId(id), body) ?? refuse(id)),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/tasks/:id',
    access: 'open',
    summary: 'Delete a task',
    schema: { params, response: { 200: TaskDeleted, 404: ErrorBody } },
    handler: ({ params: { id } }, reply) => {
      const remaining = store.remove(toTaskId(id)) ?? refuse(id);
      reply.send({ message: `Task with Id=${id} deleted`, remaining });
    },
  }),
];

/** The id that canonical decimal digits name; 0, which no task has, for anything else. */
const toTaskId = (text: string): number => (/^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0);

const refuse = (id: string): never => {
  throw toAbsence(id);
};

const toAbsence = (id: string): HttpError => new HttpError('not-found', `Task with Id=${id} not found`);

const dropEmptyFields = (body: object): void => {
  const fields = body as Record<string, unknown>;
  for (const [name, value] of Object.entries(fields)) {
    if (value === '') delete fields[name];
  }
};
