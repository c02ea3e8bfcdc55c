import { longTest } from '../../support/long.ts';
import { ordinary } from '../../support/postgres/data-folder.ts';
import { toSkipPostgres } from '../../support/postgres/installation.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres/server.ts';
import { createRandom } from '../../support/random.ts';
import { type Instances, startInstances } from './support/instances.ts';
import { runGroups } from './support/rounds.ts';
import { assertSound, runTrial, waitForOperations } from './support/trial.ts';
import type { Workload } from './support/workload.ts';

interface Parts {
  server: PostgresServer;
  instances: Instances;
  workload: Workload;
}

const faults: Record<string, (parts: Parts) => Promise<void>> = {
  'all backends are terminated three times': async ({ server, workload }) => {
    for (let time = 0; time < 3; time += 1) {
      await server.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ordinary.user}'`);
      await waitForOperations(workload, 100);
    }
  },
  'PostgreSQL is restarted': ({ server }) => server.restart(),
  'PostgreSQL is killed and started': async ({ server }) => {
    await server.stop('SIGKILL');
    await server.restart();
  },
  'an instance is killed and started': async ({ instances: { all }, workload }) => {
    await all[0].stop('SIGKILL');
    await waitForOperations(workload, 100);
    await all[0].start();
  },
};

longTest('ends of connections, servers and instances lose and duplicate nothing', { skip: toSkipPostgres() }, (t) =>
  runGroups(t, async (group, count) => {
    const server = await startPostgres(group);
    const instances = await startInstances(group, { store: server.url() });
    const random = createRandom();
    for (let round = 0; round < count; round += 1) {
      for (const [what, disturb] of Object.entries(faults)) {
        const fault = (workload: Workload) => disturb({ server, instances, workload });
        assertSound(group, what, await runTrial(group, { instances, random, fault }));
      }
    }
  }),
);
