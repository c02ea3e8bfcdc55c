import { longTest } from '../../support/long.ts';
import { startPgBouncer, toSkipPgBouncer } from '../../support/postgres/pgbouncer.ts';
import { startPostgres } from '../../support/postgres/server.ts';
import { createRandom } from '../../support/random.ts';
import { startInstances } from './support/instances.ts';
import { runGroups } from './support/rounds.ts';
import { assertSound, runTrial } from './support/trial.ts';

longTest('a restart of PostgreSQL behind PgBouncer loses and duplicates nothing', { skip: toSkipPgBouncer() }, (t) =>
  runGroups(t, async (group, count) => {
    const server = await startPostgres(group);
    const instances = await startInstances(group, { store: await startPgBouncer(group, server) });
    const random = createRandom();
    for (let round = 0; round < count; round += 1) {
      const fault = () => server.restart();
      assertSound(group, 'PgBouncer, restart', await runTrial(group, { instances, random, fault }));
    }
  }),
);
