import assert from 'node:assert/strict';
import { longTest } from '../../support/long.ts';
import { createCluster } from '../../support/postgres/cluster.ts';
import { toSkipPostgres } from '../../support/postgres/installation.ts';
import { createRandom } from '../../support/random.ts';
import { startInstances } from './support/instances.ts';
import { runTrial, summarize, waitForOperations } from './support/trial.ts';

longTest('the checks find the losses of an asynchronous standby', { skip: toSkipPostgres() }, async (t) => {
  const cluster = await createCluster(t, { synchronous: false });
  const instances = await startInstances(t, { store: cluster.url });
  const verdict = await runTrial(t, {
    instances,
    random: createRandom(),
    fault: async (workload) => {
      await cluster.standby.stop();
      await waitForOperations(workload, 300);
      await cluster.primary.stop('SIGKILL');
      await cluster.standby.restart();
      await cluster.promote();
    },
  });
  t.diagnostic(`asynchronous standby: ${summarize(verdict)}`);
  assert.ok(verdict.lost.length > 0);
  assert.ok(verdict.inexplicable.length > 0);
});
