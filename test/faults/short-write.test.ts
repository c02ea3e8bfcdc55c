import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startClients } from './support/clients.ts';
import { compare, readLog } from './support/compare.ts';
import { createTemporaryFolder } from './support/ending.ts';
import { killServer } from './support/kill.ts';
import { requires } from './support/requirements.ts';
import { isLong } from './support/rounds.ts';
import { startServer } from './support/server.ts';
import { createTally } from './support/tally.ts';

const needs = requires({ programs: ['prlimit'] });
/** No multiple of a line's length: the system takes a part of a batch, then none. */
const largestFile = 20_011;

test('a write of which the system takes only a part is made good in a new file', needs, async (t) => {
  const dataDir = join(createTemporaryFolder(t), 'data');
  const wrapper = ['prlimit', `--fsize=${largestFile}`];
  const tally = createTally('short writes, files of at most 20,011 bytes');
  const server = await startServer({ dataDir, wrapper });
  assert.ok(server, 'the server does not start');
  const clients = startClients(server.url, { tag: 'short', limit: isLong ? 1000 : 100 });
  try {
    await clients.done;
  } finally {
    await killServer(server);
    await clients.stop();
  }
  const lines = readLog(dataDir);
  const verdict = compare(clients.acknowledged, lines);
  tally.add(verdict);
  tally.print(t);
  assert.deepEqual([...clients.statuses.keys()].sort(), [200, 503]);
  assert.deepEqual(verdict, { ...verdict, lost: [], duplicated: [], misplaced: [] });
  assert.equal(lines.length, verdict.acknowledged, 'what failed was taken away');
});
