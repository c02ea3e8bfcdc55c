import { principalOf } from '../../auth/guard.ts';
import { sendAnswer } from '../../http/direct/answer.ts';
import { defineRoute, type Route } from '../route.ts';
import { toListAnswer } from './list-answer.ts';
import { UserTaskList } from './schema.ts';
import type { TaskStore } from './store.ts';

/** Profile `protected-tasks`: the whole list, for whoever has a token. */
export const createProtectedListRoute = (store: TaskStore): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/tasks',
    access: 'token',
    summary: 'List all tasks and say who asks',
    schema: { response: { 200: UserTaskList } },
    handler: (request, reply) => {
      const selection = store.list({}, Number.MAX_SAFE_INTEGER);
      const user = JSON.stringify(principalOf(request).name);
      sendAnswer(reply, toListAnswer(`{"user":${user},"count":${selection.count},"data":[`, selection));
    },
  });
