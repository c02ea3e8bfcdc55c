import { ask } from '../support/ask.ts';
import { createBare } from '../support/opponents.ts';
import { compareRates } from '../support/rounds.ts';
import type { Row } from './row.ts';

/** A list of fifty tasks, compared with a server that only writes the same bytes. */
export const listTasks: Row = {
  id: 'B2',
  measure: async (bench) => {
    const server = await bench.startMillion();
    const request = { url: `${server.url}/api/tasks?status=Pending` };
    const bare = await createBare(await ask(request), 'buffer')(bench.scope, bench.cores);
    const { figures, ...measured } = await compareRates(
      bench,
      { server, request },
      { server: bare, request: { url: `${bare.url}/` } },
    );
    return [
      {
        id: 'B2',
        work: 'GET /api/tasks?status=Pending, 50 of 1,000,000',
        unit: '/s',
        ...measured,
        beside: { name: 'node:http, same bytes from a buffer', figures },
        goals: [{ of: 'ratio', atLeast: 0.8 }],
      },
    ];
  },
};
