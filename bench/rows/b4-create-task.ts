import { ask, createPost } from '../support/ask.ts';
import { createBare } from '../support/opponents.ts';
import { compareRates } from '../support/rounds.ts';
import { startSignalbox } from '../support/signalbox.ts';
import { newTask } from '../support/tasks.ts';
import type { Row } from './row.ts';

/** Creating tasks, compared with a server that parses the same bodies and stores nothing. */
export const createTask: Row = {
  id: 'B4',
  measure: async (bench) => {
    const { scope, cores } = bench;
    const server = await startSignalbox(scope, cores);
    const request = createPost(`${server.url}/api/tasks`, newTask);
    const bare = await createBare(await ask(request), 'parse')(scope, cores);
    const { figures, ...measured } = await compareRates(
      bench,
      { server, request },
      { server: bare, request: { ...request, url: `${bare.url}/api/tasks` } },
    );
    return [
      {
        id: 'B4',
        work: 'POST /api/tasks',
        unit: '/s',
        ...measured,
        beside: { name: 'node:http, body parsed, constant response', figures },
        goals: [{ of: 'ratio', atLeast: 0.8 }],
      },
    ];
  },
};
