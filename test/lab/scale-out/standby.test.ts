import assert from 'node:assert/strict';
import { longTest } from '../../support/long.ts';
import { createCluster } from '../../support/postgres/cluster.ts';
import { toSkipPostgres } from '../../support/postgres/installation.ts';
import { createRandom } from '../../support/random.ts';
import { waitUntil } from '../../support/wait.ts';
import { startInstances } from './support/instances.ts';
import { runGroups } from './support/rounds.ts';
import { assertSound, runTrial } from './support/trial.ts';
import type { Workload } from './support/workload.ts';

const cancel = `SELECT count(pg_cancel_backend(pid))::int AS count FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;

/** Counts acknowledged changes that started and ended between these times. */
const countChanges = ({ operations }: Workload, from: number, to: number): number =>
  operations.filter(({ kind, outcome, begin, end }) => kind !== 'read' && outcome === 'ok' && begin > from && end < to)
    .length;

/**
 * Milliseconds without a standby: until changes reach their deadline of 10 s, or until some waits have been cancelled.
 */
for (const [what, isCancelled, aloneMs] of [
  ['changes wait or get 503', false, 11_000],
  ['a cancelled wait is not taken as success', true, 4000],
] as const) {
  longTest(`without the synchronous standby ${what}`, { skip: toSkipPostgres() }, (t) =>
    runGroups(t, async (group, count) => {
      const cluster = await createCluster(group);
      const instances = await startInstances(group, { store: cluster.url });
      const random = createRandom();
      for (let round = 0; round < count; round += 1) {
        let cancelled = 0;
        const fault = async (workload: Workload): Promise<void> => {
          await cluster.standby.stop('SIGKILL');
          const begin = performance.now();
          await waitUntil('the standby was away', async () => {
            if (isCancelled) cancelled += (await cluster.primary.sql<{ count: number }>(cancel))[0]?.count ?? 0;
            return performance.now() > begin + aloneMs;
          });
          const acknowledged = countChanges(workload, begin, performance.now());
          await cluster.standby.restart();
          assert.equal(acknowledged, 0);
        };
        const verdict = await runTrial(group, { instances, random, fault });
        assertSound(group, `no standby, ${cancelled} commits cancelled`, verdict, { isLong: !isCancelled });
        assert.equal(cancelled > 0, isCancelled);
        assert.equal(verdict.refused > 0, !isCancelled);
      }
    }),
  );
}
