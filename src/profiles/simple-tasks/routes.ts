import Type from 'typebox';
import { HttpError } from '../../http/errors.ts';
import { pagingHeaders, sendList, setPaging, whenReady } from '../../http/json.ts';
import { defineRoute, type Route, TaskId } from '../route.ts';
import { NewSimpleTask, SimpleTask, SimpleTaskCreated, SimpleTaskList, type SimpleTaskStore } from './schema.ts';

const params = Type.Object({ id: TaskId });

/** Profile `simple-tasks`. */
export const createSimpleTaskRoutes = (store: SimpleTaskStore): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/tasks',
    access: 'open',
    looseSlash: true,
    summary: 'List simple tasks',
    headers: { response: pagingHeaders },
    schema: { operationId: 'listTasks', response: { 200: SimpleTaskList } },
    handler: (_request, reply) =>
      whenReady(reply, store.list(), ({ total, pieces }) => {
        setPaging(reply, total);
        return sendList(reply, { opening: '[', pieces, closing: ']' });
      }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/tasks/:id',
    access: 'open',
    looseSlash: true,
    summary: 'Read one simple task',
    schema: { operationId: 'getTask', params, response: { 200: SimpleTask } },
    handler: async ({ params: { id } }) => {
      if (!/^[1-9]\d*$/.test(id)) throw new HttpError('not-found', 'Not found');
      const task = await store.find(Number(id));
      if (!task) throw new HttpError('not-found', 'Task not found');
      return task;
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/tasks',
    access: 'open',
    looseSlash: true,
    summary: 'Create a simple task',
    schema: { operationId: 'createTask', body: NewSimpleTask, response: { 201: SimpleTaskCreated } },
    handler: async ({ body: { title } }, reply) => {
      await store.add({ title });
      return reply.code(201).send({ message: 'Task created' });
    },
  }),
];
