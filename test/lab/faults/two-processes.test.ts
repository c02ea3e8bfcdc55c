import assert from 'node:assert/strict';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { rounds } from '../../support/long.ts';
import { atEnd, createTemporaryFolder } from './support/ending.ts';
import { alerts, type Operation } from './support/kept.ts';
import { tasks } from './support/kept-tasks.ts';
import { killServer } from './support/kill.ts';
import { requires } from './support/requirements.ts';
import { sendOne } from './support/send.ts';
import { type FaultServer, startServer } from './support/server.ts';
import { createTally } from './support/tally.ts';

type Options = Parameters<typeof startServer>[0];

/** Starts a server that is killed when the test ends. */
const start = async (t: TestContext, options: Options): Promise<FaultServer | undefined> => {
  const server = await startServer(options);
  if (server) atEnd(t, () => killServer(server));
  return server;
};

/** Starts a server on a directory that is in use. The server must exit with one line that gives the reason. */
const assertRefused = async (t: TestContext, options: Options): Promise<void> => {
  let said = '';
  const server = await start(t, {
    ...options,
    onRefusal: (stderr) => {
      said = stderr;
    },
  });
  assert.equal(server, undefined, 'a second server has started');
  assert.equal(
    said,
    `signalbox: dataDir: ${options.dataDir} is in use by another signalbox process; ` +
      'stop that process, or choose another folder with --data-dir\n',
  );
};

for (const kept of [alerts, tasks]) {
  const whose = `with ${kept.what}s`;

  test(`a second server on a data directory ${whose} does not start, and does not disturb the first`, async (t) => {
    const folder = createTemporaryFolder(t);
    const dataDir = join(folder, 'data');
    const first = await start(t, { dataDir, kept });
    assert.ok(first);
    await assertRefused(t, { dataDir, kept });
    const alias = join(folder, 'alias');
    symlinkSync(dataDir, alias);
    await assertRefused(t, { dataDir: alias, kept });
    assert.ok((await sendOne(first.url, 'still-here', kept)).operation.isAcknowledged);
  });

  test(`a server ${whose} starts immediately after another server was killed with kill -9`, async (t) => {
    const dataDir = join(createTemporaryFolder(t), 'data');
    const tally = createTally(`start right after kill -9, ${kept.what}s`);
    const sent: Operation[] = [];
    const total = rounds(2, 50);
    for (let round = 0; round < total; round++) {
      const server = await start(t, { dataDir, kept });
      assert.ok(server, 'the server does not start');
      const { operation, status } = await sendOne(server.url, `round-${round}`, kept);
      assert.ok(operation.isAcknowledged, `answered ${status}`);
      sent.push(operation);
      await killServer(server);
      assert.ok(existsSync(join(dataDir, `${kept.log}.lock`)), 'the killed server has left its lock file');
    }
    const verdict = await kept.judge(dataDir, [sent]);
    tally.add(verdict);
    tally.rounds = total;
    tally.print(t);
    assert.deepEqual(verdict, { acknowledged: total, lost: [], duplicated: [], misplaced: [] });
  });

  test(`exactly one of several servers ${whose} that start at one moment keeps running`, async (t) => {
    const dataDir = join(createTemporaryFolder(t), 'data');
    for (let round = 0; round < rounds(1, 20); round++) {
      const servers = await Promise.all(Array.from({ length: 3 }, () => start(t, { dataDir, kept })));
      const [only, ...more] = servers.filter((server) => server !== undefined);
      assert.ok(only, 'none has started');
      assert.deepEqual(more, [], `${more.length} more have started`);
      // The files are kept for the next round.
      await killServer(only);
    }
  });
}

const needs = requires({ programs: ['unshare'], mounts: true });

test('a second server in another container that shares the volume does not start', needs, async (t) => {
  const dataDir = join(createTemporaryFolder(t), 'data');
  assert.ok(await start(t, { dataDir }));
  await assertRefused(t, { dataDir, wrapper: ['unshare', '--net'] });
});
