import { setTimeout } from 'node:timers/promises';
import { longTest } from '../../support/long.ts';
import { createCluster } from '../../support/postgres/cluster.ts';
import { toSkipPostgres } from '../../support/postgres/installation.ts';
import { createRandom } from '../../support/random.ts';
import { startInstances } from './support/instances.ts';
import { runGroups } from './support/rounds.ts';
import { assertSound, runTrial, waitForOperations } from './support/trial.ts';

/** Milliseconds for which the new primary does not respond, longer than a statement may take. */
const unansweredMs = 4000;

const skip = toSkipPostgres();
longTest('a primary that hangs and comes back beside its successor loses and duplicates nothing', { skip }, (t) =>
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
          await waitForOperations(workload, 30);
          // The old primary now answers reads that were sent to it earlier.
          cluster.standby.resume();
          await waitForOperations(workload, 100);
          // Only the old primary responds, and it must not be used.
          cluster.primary.pause();
          await setTimeout(unansweredMs);
          cluster.primary.resume();
        },
      });
      assertSound(group, 'two primaries', verdict, { isLong: true });
      if (round + 1 < count) await cluster.replaceStandby();
    }
  }),
);
