import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startClients } from './support/clients.ts';
import { type Coverage, coverageCalls, readCoverage } from './support/coverage.ts';
import { createTemporaryFolder } from './support/ending.ts';
import { killServer } from './support/kill.ts';
import { requires } from './support/requirements.ts';
import { isLong } from './support/rounds.ts';
import { startServer } from './support/server.ts';
import { createTracing, readTrace } from './support/strace.ts';
import { createTally } from './support/tally.ts';

const needs = requires({ programs: ['strace'] });
const smallSegments = ['--alerts-segment-bytes', '16384'];

test('each response is sent only after the sync that covers its line has returned', needs, async (t) => {
  const tally = createTally('order of sync and answer');
  const { answered, uncovered, acknowledged } = await watch(t, smallSegments, isLong ? 2000 : 50);
  tally.add({ acknowledged: answered.length, lost: [], duplicated: [], misplaced: [] }, uncovered.length);
  tally.print(t);
  assert.deepEqual(uncovered, []);
  assert.deepEqual(answered.sort(), acknowledged.sort());
});

test('control: every response is detected as premature with syncing off', needs, async (t) => {
  const { uncovered, acknowledged } = await watch(t, ['--no-alerts-sync'], 5);
  assert.deepEqual(uncovered.sort(), acknowledged.sort());
});

/** Runs a server under strace while each client sends `limit` alerts; resolves to what the trace and the clients show. */
const watch = async (
  t: TestContext,
  flags: string[],
  limit: number,
): Promise<Coverage & { acknowledged: string[] }> => {
  const folder = createTemporaryFolder(t);
  const output = join(folder, 'trace');
  const tracing = createTracing({ calls: coverageCalls, output });
  const server = await startServer({ dataDir: join(folder, 'data'), flags, ...tracing });
  assert.ok(server, 'the server does not start');
  const clients = startClients(server.url, { tag: 'order', limit });
  try {
    await clients.done;
  } finally {
    await killServer(server);
    await clients.stop();
  }
  const acknowledged = clients.acknowledged.flat().map(({ id }) => id);
  assert.equal(acknowledged.length, limit * clients.acknowledged.length);
  return { ...readCoverage(readTrace(output)), acknowledged };
};
