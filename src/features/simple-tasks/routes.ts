import type { Static } from 'typebox';
import Type from 'typebox';
import { openFor } from '../../auth/access.ts';
import { HttpError } from '../../http/errors.ts';
import { pagingHeaders, sendList, setPaging, whenReady } from '../../http/json.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { defineShape, TaskId } from '../../kit/shape.ts';
import type { EntryKind, EntryStore } from '../../storage/entries.ts';

export const SimpleTask = defineShape('SimpleTask', {
  id: Type.Integer({ examples: [1] }),
  title: Type.String({ examples: ['Get milk'] }),
  status: Type.Enum(['done', 'pending'], { type: 'string', title: 'SimpleTaskStatus' }),
});
export type SimpleTask = Static<typeof SimpleTask>;

const SimpleTaskList = Type.Array(SimpleTask, { title: 'SimpleTaskList' });

const NewSimpleTask = defineShape('NewSimpleTask', {
  title: Type.String({ minLength: 1, examples: ['Get milk'] }),
});

const SimpleTaskCreated = defineShape('SimpleTaskCreated', {
  message: Type.String({ examples: ['Task created'] }),
});

/** Simple task in a seed file. Its id must equal its position in the list. */
export const SimpleTaskSeed = Type.Object(
  {
    id: Type.Optional(Type.Integer({ minimum: 1 })),
    title: Type.String({ minLength: 1 }),
    status: Type.Optional(SimpleTask.properties.status),
  },
  { additionalProperties: false },
);
export type SimpleTaskSeed = Static<typeof SimpleTaskSeed>;

/**
 * Kind of simple task records. Tasks are never removed, so the id of a task is its position in the list, counted from
 * 1.
 */
export const simpleTaskKind: EntryKind<SimpleTaskSeed, SimpleTask> = {
  name: 'simple-tasks',
  table: 'simple_task',
  complete: ({ title, status = 'pending' }, place) => ({ id: place, title, status }),
};

export type SimpleTaskStore = EntryStore<SimpleTaskSeed, SimpleTask>;

const params = Type.Object({ id: TaskId });

/** Creates the routes of the profile `simple-tasks`. */
export const createSimpleTaskRoutes = (store: SimpleTaskStore): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/tasks',
    ...openFor('items:read'),
    isSpecified: true,
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
    ...openFor('items:read'),
    isSpecified: true,
    looseSlash: true,
    summary: 'Get a simple task',
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
    ...openFor('items:write'),
    isSpecified: true,
    looseSlash: true,
    summary: 'Create a simple task',
    textsAsSent: true,
    schema: { operationId: 'createTask', body: NewSimpleTask, response: { 201: SimpleTaskCreated } },
    handler: async ({ body: { title } }, reply) => {
      await store.add({ title });
      return reply.code(201).send({ message: 'Task created' });
    },
  }),
];
