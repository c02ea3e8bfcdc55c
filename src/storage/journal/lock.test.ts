import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { openTestJournal } from '../../../test/support/journal.ts';
import { listClaims, lockDirectory } from './lock.ts';

for (const platform of ['linux', 'darwin'] as const) {
  test(`on ${platform} a second writer of a directory is refused until the first releases it`, async (t) => {
    const directory = createFolder(t);
    const file = join(directory, 'log.lock');
    const first = await lockDirectory(directory, 'log', file, platform);
    await assert.rejects(lockDirectory(directory, 'log', file, platform), { code: 'locked' });
    const other = await lockDirectory(directory, 'other', join(directory, 'other.lock'), platform);
    await other.release();
    await first.release();
    await (await lockDirectory(directory, 'log', file, platform)).release();
  });
}

test('a writer in another container is found by the lock file', async (t) => {
  const directory = createFolder(t);
  const file = join(directory, 'log.lock');
  const elsewhere = await lockDirectory(directory, 'log', file, 'darwin');
  await assert.rejects(lockDirectory(directory, 'log', file, 'linux'), { code: 'locked' });
  await elsewhere.release();
});

test('a socket with a name that other users can guess prevents no start', async (t) => {
  const directory = createFolder(t);
  const { dev, ino } = await stat(directory, { bigint: true });
  const foreign = createServer().listen({ path: `\0signalbox-${dev}-${ino}-log` });
  t.after(() => foreign.close());
  await once(foreign, 'listening');
  await openTestJournal(t, directory);
});

test('only its owner can read the secret of a directory, and a lost secret is created again', async (t) => {
  const directory = createFolder(t);
  const key = join(directory, 'lock.key');
  for (let start = 0; start < 2; start += 1) {
    const lock = await lockDirectory(directory, 'log', join(directory, 'log.lock'));
    const { mode, size } = await stat(key);
    assert.equal(mode & 0o777, 0o600);
    assert.equal(size, 36);
    await lock.release();
    await writeFile(key, '');
  }
});

test('a lock file that was left behind is replaced', async (t) => {
  const directory = createFolder(t);
  const file = join(directory, 'log.lock');
  await writeFile(file, '');
  const lock = await lockDirectory(directory, 'log', file);
  assert.ok((await stat(file)).isSocket());
  await lock.release();
});

test('if the lock file cannot be a socket, Linux still locks and other systems refuse', async (t) => {
  const directory = createFolder(t);
  const file = join(directory, 'x'.repeat(120));
  const lock = await lockDirectory(directory, 'log', file, 'linux');
  await assert.rejects(lockDirectory(directory, 'log', file, 'linux'), { code: 'locked' });
  await assert.rejects(lockDirectory(directory, 'other', file, 'darwin'), {
    code: 'unusable',
    message: `the path ${file} is too long for a socket: choose a folder with a shorter path`,
  });
  await lock.release();
});

test('a journal that does not open leaves no lock', async (t) => {
  const directory = createFolder(t);
  await mkdir(join(directory, 'log.jsonl'));
  await assert.rejects(openTestJournal(t, directory), { code: 'unusable' });
  await rm(join(directory, 'log.jsonl'), { recursive: true });
  await openTestJournal(t, directory);
});

test('Windows locks with a named pipe', () => {
  assert.deepEqual(listClaims('win32', 'name', 'file'), [
    { address: '\\\\.\\pipe\\name', file: false, optional: false },
  ]);
});
