import { ask, createPost } from '../support/ask.ts';
import { createBare } from '../support/opponents.ts';
import { compareRates } from '../support/rounds.ts';
import { startSignalbox } from '../support/signalbox.ts';
import { newTask } from '../support/tasks.ts';
import type { Row } from './row.ts';

/** Reading one task, compared with a server that only writes the same bytes. */
export const readTask: Row = {
  id: 'B1',
  measure: async (bench) => {
    const { scope, cores } = bench;
    const server = await startSignalbox(scope, cores);
    await ask(createPost(`${server.url}/api/tasks`, newTask));
    const request = { url: `${server.url}/api/tasks/1` };
    const bare = await createBare(await ask(request), 'text')(scope, cores);
    const { figures, ...measured } = await compareRates(
      bench,
      { server, request },
      { server: bare, request: { url: `${bare.url}/api/tasks/1` } },
    );
    return [
      {
        id: 'B1',
        work: 'GET /api/tasks/{id}',
        unit: '/s',
        ...measured,
        beside: { name: 'node:http, same bytes', figures },
        goals: [{ of: 'ratio', atLeast: 0.95 }],
      },
    ];
  },
};
