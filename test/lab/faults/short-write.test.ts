import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isLong } from '../../support/long.ts';
import { waitUntil } from '../../support/wait.ts';
import { startClients } from './support/clients.ts';
import { compare, readLog } from './support/compare.ts';
import { createTemporaryFolder } from './support/ending.ts';
import { alerts } from './support/kept.ts';
import { tasks } from './support/kept-tasks.ts';
import { killServer } from './support/kill.ts';
import { requires } from './support/requirements.ts';
import { sendOne } from './support/send.ts';
import { startServer } from './support/server.ts';
import { createTally } from './support/tally.ts';

const needs = requires({ programs: ['prlimit'] });
/**
 * Maximum size of a file in bytes. Because it is not a multiple of a line's length, the kernel accepts part of a batch,
 * then nothing.
 */
const largestFile = 20_011;
/** Number of changes that make the log twice as long as the largest file, while the resulting state still fits. */
const taskChanges = 250;

/** Starts a server whose files cannot exceed this size. */
const start = async (t: TestContext, kept = alerts) => {
  const dataDir = join(createTemporaryFolder(t), 'data');
  const server = await startServer({ dataDir, kept, wrapper: ['prlimit', `--fsize=${largestFile}`] });
  assert.ok(server, 'the server does not start');
  return { dataDir, server };
};

test('the log continues in a new file after a short write', needs, async (t) => {
  const { dataDir, server } = await start(t);
  const tally = createTally('short writes, files of at most 20,011 bytes');
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

test('changes of tasks continue in a new file after a short write', needs, async (t) => {
  const { dataDir, server } = await start(t, tasks);
  const tally = createTally('short writes, tasks, files of at most 20,011 bytes');
  const clients = startClients(server.url, { kept: tasks, tag: 'short' });
  try {
    await waitUntil('changes are acknowledged', () => clients.acknowledged.flat().length > taskChanges);
  } finally {
    await killServer(server);
    await clients.stop();
  }
  const verdict = await tasks.judge(dataDir, clients.sent);
  tally.add(verdict);
  tally.print(t);
  assert.deepEqual([...clients.statuses.keys()].sort(), [200, 503]);
  assert.deepEqual(verdict, { ...verdict, lost: [], duplicated: [], misplaced: [] });
});

test('alerts that do not fit are refused one by one, and the failure is logged once', needs, async (t) => {
  const { server } = await start(t);
  const readEvents = () => server.stderr().match(/alert log: records (?:cannot be stored|are stored again)/g);
  try {
    for (let number = 0; number < 5; number++) {
      const { status } = await sendOne(server.url, 'x'.repeat(2 * largestFile));
      assert.equal(status, 503);
    }
    assert.deepEqual(readEvents(), ['alert log: records cannot be stored']);
    assert.equal((await sendOne(server.url, 'short')).status, 200);
    await waitUntil('the failure is logged', () => readEvents()?.length === 2);
    assert.deepEqual(readEvents(), ['alert log: records cannot be stored', 'alert log: records are stored again']);
  } finally {
    await killServer(server);
  }
});
