import assert from 'node:assert/strict';
import { Client } from 'pg';
import { longTest } from '../../support/long.ts';
import { toSkipPostgres } from '../../support/postgres/installation.ts';
import { startPostgres } from '../../support/postgres/server.ts';
import { createRandom } from '../../support/random.ts';
import { waitUntil } from '../../support/wait.ts';
import { startInstances } from './support/instances.ts';
import { runGroups } from './support/rounds.ts';
import { assertSound, runTrial } from './support/trial.ts';

/** Milliseconds after which a change gets a 503. The lock is released at about that time. */
const deadlineMs = 10_000;

longTest('changes that get 503 because of a lock are not applied later', { skip: toSkipPostgres() }, (t) =>
  runGroups(t, async (group, count) => {
    const server = await startPostgres(group);
    const instances = await startInstances(group, { store: server.url() });
    const random = createRandom();
    for (let round = 0; round < count; round += 1) {
      const fault = async (): Promise<void> => {
        const holder = new Client({ connectionString: server.adminUrl });
        await holder.connect();
        await holder.query(`BEGIN; SELECT FROM signalbox.gate WHERE name = 'task' FOR UPDATE`);
        const end = performance.now() + deadlineMs + random.below(500);
        await waitUntil('the lock was held', () => performance.now() > end);
        await holder.end();
      };
      const verdict = await runTrial(group, { instances, random, fault });
      assertSound(group, 'lock', verdict, { isLong: true });
      assert.ok(verdict.refused > 0);
    }
  }),
);
