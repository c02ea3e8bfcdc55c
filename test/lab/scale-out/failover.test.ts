import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { cases } from '../../support/long.ts';
import { createCluster } from '../../support/postgres/cluster.ts';
import { toSkipPostgres } from '../../support/postgres/installation.ts';
import { createRandom } from '../../support/random.ts';
import { startInstances } from './support/instances.ts';
import { runGroups } from './support/rounds.ts';
import { assertSound, runTrial } from './support/trial.ts';

/** Milliseconds that a request may take in addition to the promotion. The goal is 1.5 s on an idle machine. */
const longestDelayMs = 5000;

/** Milliseconds until an operator becomes aware that the primary has failed. */
const noticedMs = 1500;

for (const version of cases([18, 15] as const)) {
  const skip = toSkipPostgres();
  test(`kill -9 of the primary of PostgreSQL ${version} loses and duplicates nothing`, { skip }, (t) =>
    runGroups(t, async (group, count) => {
      const cluster = await createCluster(group, { version });
      const instances = await startInstances(group, { store: cluster.url });
      const random = createRandom();
      for (let round = 0; round < count; round += 1) {
        let promoteMs = 0;
        const fault = async (): Promise<void> => {
          const begin = performance.now();
          await cluster.primary.stop('SIGKILL');
          await setTimeout(random.below(noticedMs));
          await cluster.promote();
          promoteMs = performance.now() - begin;
        };
        const verdict = await runTrial(group, { instances, random, fault });
        const delay = verdict.slowest - promoteMs;
        const times = `promoted after ${promoteMs.toFixed(0)} ms, slowest request ${delay.toFixed(0)} ms longer`;
        assertSound(group, `failover, PostgreSQL ${version}, ${times}`, verdict);
        assert.ok(delay < longestDelayMs, times);
        if (round + 1 < count) await cluster.replaceStandby();
      }
    }),
  );
}
