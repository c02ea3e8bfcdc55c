import { ask } from '../support/ask.ts';
import { connections, fillTasks, runPgbench, startDatabase, startInstance } from '../support/postgres.ts';
import { takeTurns } from '../support/rounds.ts';
import type { Row } from './row.ts';

const count = 100_000;

const script = `\\set id random(1, ${count})
SELECT version, body FROM signalbox.task WHERE id = :id;`;

/** Reading one task of a database over HTTP, compared with a SELECT by primary key. */
export const postgresRead: Row = {
  id: 'B18',
  measure: async ({ scope, load, rounds, seconds }) => {
    const server = await startDatabase(scope);
    const { url } = await startInstance(scope, server);
    await fillTasks(server.adminUrl, count);
    const request = { url: `${url}/api/tasks/4711`, connections };
    await ask(request);
    const read = async (): Promise<number> => (await load.run({ ...request, seconds })).perSecond;
    const select = () => runPgbench(scope, server, script, { seconds });
    await takeTurns(1, [read, select]);
    const [ours = [], figures = []] = await takeTurns(rounds, [read, select]);
    return [
      {
        id: 'B18',
        work: `GET /api/tasks/{id}, --store postgres, ${connections} connections`,
        unit: '/s',
        ours,
        beside: { name: 'pgbench, SELECT by primary key', figures },
        goals: [{ of: 'ratio', atLeast: 0.8 }],
      },
    ];
  },
};
