import { ask, createPost } from '../support/ask.ts';
import { connections, runPgbench, startDatabase, startInstance } from '../support/postgres.ts';
import { takeTurns } from '../support/rounds.ts';
import { newTask } from '../support/tasks.ts';
import type { Row } from './row.ts';

/** A table with the columns and indexes of tasks. */
const prepare = `CREATE TABLE plain (LIKE signalbox.task INCLUDING ALL);
  CREATE SEQUENCE plain_id; ALTER TABLE plain ALTER id SET DEFAULT nextval('plain_id')`;

/** Creating tasks in a database, compared with one INSERT for each. */
export const postgresCreate: Row = {
  id: 'B17',
  measure: async ({ scope, load, rounds, seconds }) => {
    const server = await startDatabase(scope);
    const { url } = await startInstance(scope, server);
    const request = { ...createPost(`${url}/api/tasks`, newTask), connections };
    const body = await ask(request);
    await server.sql(prepare);
    const script = `INSERT INTO plain (status, priority, version, body) VALUES (1, 3, 1, '${body}');`;
    const create = async (): Promise<number> => (await load.run({ ...request, seconds })).perSecond;
    const insert = () => runPgbench(scope, server, script, { seconds });
    await takeTurns(1, [create, insert]);
    const [ours = [], figures = []] = await takeTurns(rounds, [create, insert]);
    return [
      {
        id: 'B17',
        work: `POST /api/tasks, --store postgres, ${connections} connections`,
        unit: '/s',
        ours,
        beside: { name: 'pgbench, INSERT into a table with the same indexes', figures },
        goals: [{ of: 'ratio', atLeast: 1.5 }],
      },
    ];
  },
};
