import { createPost } from '../support/ask.ts';
import { connections, startDatabase, startInstance } from '../support/postgres.ts';
import { takeTurns } from '../support/rounds.ts';
import type { Server } from '../support/server.ts';
import { newTask } from '../support/tasks.ts';
import type { Row } from './row.ts';

/** Creating tasks with two instances on one database, compared with one of them. */
export const postgresInstances: Row = {
  id: 'B20',
  measure: async ({ scope, load, rounds, seconds }) => {
    const server = await startDatabase(scope);
    const [one, two] = [await startInstance(scope, server), await startInstance(scope, server)];
    const create = async (instances: readonly Server[]): Promise<number> => {
      const runs = instances.map(({ url }) => {
        const request = createPost(`${url}/api/tasks`, newTask);
        return load.run({ ...request, connections: connections / instances.length, seconds });
      });
      return (await Promise.all(runs)).reduce((sum, { perSecond }) => sum + perSecond, 0);
    };
    const sides = [() => create([one, two]), () => create([one])];
    await takeTurns(1, sides);
    const [ours = [], figures = []] = await takeTurns(rounds, sides);
    return [
      {
        id: 'B20',
        work: `POST /api/tasks on two instances, --store postgres, ${connections} connections`,
        unit: '/s',
        ours,
        beside: { name: 'one of them', figures },
        goals: [],
      },
    ];
  },
};
