import { ask } from '../support/ask.ts';
import type { Finding } from '../support/finding.ts';
import { connections, fillTasks, runPgbench, startDatabase, startInstance } from '../support/postgres.ts';
import { takeTurns } from '../support/rounds.ts';
import type { Row } from './row.ts';

/** As servers page that count with each list. */
const script = `SELECT body, count(*) OVER () FROM signalbox.task WHERE status = 1 ORDER BY id LIMIT 50;`;

/** Lists of fifty tasks with their total, at ten times as many, and compared with counting. */
export const postgresList: Row = {
  id: 'B19',
  measure: async ({ scope, load, rounds, seconds, isFull }) => {
    const count = isFull ? 10_000_000 : 1_000_000;
    const server = await startDatabase(scope);
    await server.sql('CREATE DATABASE small OWNER signalbox');
    const [large, small] = [await startInstance(scope, server), await startInstance(scope, server, 'small')];
    await fillTasks(server.adminUrl, count);
    await fillTasks(server.url('small'), count / 10);
    const toList =
      ({ url }: { url: string }, text: string) =>
      async (): Promise<number> => {
        const request = { url: `${url}/api/tasks${text}`, connections };
        await ask(request);
        return (await load.run({ ...request, seconds })).perSecond;
      };
    const compare = async (text: string): Promise<Finding> => {
      const sides = [toList(large, text), toList(small, text)];
      await takeTurns(1, sides);
      const [ours = [], figures = []] = await takeTurns(rounds, sides);
      return {
        id: 'B19',
        work: `GET /api/tasks${text}, 50 of ${count.toLocaleString('en')}, --store postgres`,
        unit: '/s',
        ours,
        beside: { name: 'itself with a tenth of them', figures },
        goals: [{ of: 'ratio', atLeast: 0.95 }],
      };
    };
    const counting = () => runPgbench(scope, server, script, { seconds, clients: 2 });
    const [ours = [], figures = []] = await takeTurns(rounds, [toList(large, '?status=Pending'), counting]);
    return [
      await compare(''),
      await compare('?status=Pending'),
      {
        id: 'B19',
        work: `GET /api/tasks?status=Pending, 50 of ${count.toLocaleString('en')}, --store postgres`,
        unit: '/s',
        ours,
        beside: { name: 'pgbench, SELECT with count(*) OVER ()', figures },
        goals: [{ of: 'ratio', atLeast: 50 }],
      },
    ];
  },
};
