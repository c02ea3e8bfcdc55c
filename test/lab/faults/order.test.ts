import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isLong } from '../../support/long.ts';
import { startClients } from './support/clients.ts';
import { type Coverage, coverageCalls, readCoverage } from './support/coverage.ts';
import { createTemporaryFolder } from './support/ending.ts';
import { alerts, type Kept } from './support/kept.ts';
import { tasks } from './support/kept-tasks.ts';
import { killServer } from './support/kill.ts';
import { requires } from './support/requirements.ts';
import { startServer } from './support/server.ts';
import { createTracing, readTrace } from './support/strace.ts';
import { createTally } from './support/tally.ts';

const needs = requires({ programs: ['strace'] });

for (const kept of [alerts, tasks]) {
  test(
    `each response about ${kept.what}s is sent only after the sync that covers its line has returned`,
    needs,
    async (t) => {
      const tally = createTally(`order of sync and answer, ${kept.what}s`);
      const { answered, uncovered, acknowledged } = await watch(t, kept, kept.smallSegments, isLong ? 2000 : 50);
      tally.add({ acknowledged: answered.length, lost: [], duplicated: [], misplaced: [] }, uncovered.length);
      tally.print(t);
      assert.deepEqual(uncovered, []);
      assert.deepEqual(answered.sort(), acknowledged.sort());
    },
  );
}

test('control: every response is detected as premature with syncing off', needs, async (t) => {
  const { uncovered, acknowledged } = await watch(t, alerts, ['--no-alerts-sync'], 5);
  assert.deepEqual(uncovered.sort(), acknowledged.sort());
});

/**
 * Runs a server under strace while each client sends `limit` alerts. Resolves to the results from the trace and from
 * the clients.
 */
const watch = async (
  t: TestContext,
  kept: Kept,
  flags: string[],
  limit: number,
): Promise<Coverage & { acknowledged: string[] }> => {
  const folder = createTemporaryFolder(t);
  const output = join(folder, 'trace');
  const tracing = createTracing({ calls: coverageCalls, output });
  const server = await startServer({ dataDir: join(folder, 'data'), kept, flags, ...tracing });
  assert.ok(server, 'the server does not start');
  const clients = startClients(server.url, { kept, tag: 'order', limit });
  try {
    await clients.done;
  } finally {
    await killServer(server);
    await clients.stop();
  }
  const operations = clients.sent.flat();
  assert.ok(operations.every(({ isAcknowledged }) => isAcknowledged));
  // The response to a deletion does not contain the id.
  const acknowledged = operations
    .filter(({ kind }) => kind !== 'remove')
    .map(({ id, text }) => (kept.what === 'alert' ? id : text) ?? '');
  return { ...readCoverage(readTrace(output), kept), acknowledged };
};
