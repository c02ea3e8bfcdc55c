import Type from 'typebox';
import { HttpError } from '../../http/response/errors.ts';
import { sendJsonList } from '../../http/response/json-list.ts';
import { ErrorBody } from '../../http/response/schema.ts';
import { defineRoute, type Route } from '../route.ts';
import { NewSimpleTask, SimpleTask, SimpleTaskCreated, SimpleTaskList } from './schema.ts';

const params = Type.Object({ id: Type.String({ description: 'Id of a task, in decimal digits.' }) });

/** Profile `simple-tasks`. Nothing removes a task, so a task's id is its place in the list. */
export const createSimpleTaskRoutes = (tasks: SimpleTask[]): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/tasks',
    access: 'open',
    looseSlash: true,
    summary: 'List simple tasks',
    schema: { response: { 200: SimpleTaskList } },
    handler: (_request, reply) => sendJsonList(reply, '[', tasks.slice(), ']'),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/tasks/:id',
    access: 'open',
    looseSlash: true,
    summary: 'Read one simple task',
    schema: { params, response: { 200: SimpleTask, 404: ErrorBody } },
    handler: async ({ params: { id } }) => {
      if (!/^[1-9]\d*$/.test(id)) throw new HttpError('not-found', 'Not found');
      const task = tasks[Number(id) - 1];
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
    schema: { body: NewSimpleTask, response: { 201: SimpleTaskCreated, 400: ErrorBody } },
    handler: async ({ body: { title } }, reply) => {
      tasks.push({ id: tasks.length + 1, title, status: 'pending' });
      return reply.code(201).send({ message: 'Task created' });
    },
  }),
];
