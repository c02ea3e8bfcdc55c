import { test } from 'node:test';
import { createCluster } from '../support/postgres/cluster.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createRandom } from '../support/random.ts';
import { waitUntil } from '../support/wait.ts';
import { startInstances } from './support/instances.ts';
import { runGroups } from './support/rounds.ts';
import { assertSound, runTrial, waitForMore } from './support/trial.ts';

/** Milliseconds for which both servers accept connections as primary; longer than a query may take. */
const togetherMs = 4000;

test(
  'a primary that hangs and comes back beside its successor loses and duplicates nothing',
  {
    skip: toSkipPostgres(),
  },
  (t) =>
    runGroups(t, async (group, count) => {
      const cluster = await createCluster(group);
      const instances = await startInstances(group, { store: cluster.url });
      const random = createRandom();
      for (let round = 0; round < count; round += 1) {
        const verdict = await runTrial(group, {
          instances,
          random,
          fault: async (workload) => {
            cluster.primary.pause();
            await cluster.promote();
            await waitForMore(workload, 100);
            cluster.standby.resume();
            const end = performance.now() + togetherMs;
            await waitUntil('both have been primaries for a while', () => performance.now() > end);
          },
        });
        assertSound(group, 'two primaries', verdict);
        await cluster.replaceStandby();
      }
    }),
);
