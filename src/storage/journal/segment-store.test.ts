import assert from 'node:assert/strict';
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { createFileNames } from './files.ts';
import type { JournalEvent } from './options.ts';
import { type JournalOptions, withDefaults } from './options.ts';
import { SegmentStore } from './segment-store.ts';

/** Opens a store that records its syncs and runs `hooks.onData` at each file sync. */
const open = async (t: TestContext, options: Partial<JournalOptions> = {}, before = '') => {
  const directory = createFolder(t);
  const names = createFileNames(directory, 'log');
  if (before !== '') await writeFile(names.active, before);
  const synced: string[] = [];
  const events: JournalEvent[] = [];
  const hooks = { onData: async (): Promise<void> => undefined };
  const sync = {
    data: async () => {
      synced.push('data');
      await hooks.onData();
    },
    directory: async (path: string) => void synced.push(path === directory ? 'directory' : path),
  };
  const report = (event: JournalEvent) => void events.push(event);
  const settings = withDefaults({ directory, name: 'log', report, ...options });
  const store = await SegmentStore.open(names, sync, settings);
  t.after(() => store.close());
  return { store, names, synced, events, hooks };
};

const commit = (store: SegmentStore, text: string) => store.commit(Buffer.from(text));

test('opening syncs the file and its directory, and a batch is synced once', async (t) => {
  const { store, names, synced } = await open(t, {}, 'one\n');
  assert.deepEqual(synced.splice(0), ['data', 'directory']);
  await commit(store, 'two\n');
  assert.deepEqual(synced, ['data']);
  assert.equal(await readFile(names.active, 'utf8'), 'one\ntwo\n');
  assert.equal(store.retainFiles().size, 8);
});

test('a store that cannot be opened closes its file', {
  skip: process.platform !== 'linux' && '/proc is read',
}, async (t) => {
  const directory = createFolder(t);
  const names = { ...createFileNames(directory, 'log'), listClosed: () => Promise.reject(new Error('EMFILE')) };
  const sync = { data: async () => undefined, directory: async () => undefined };
  await assert.rejects(SegmentStore.open(names, sync, withDefaults({ directory, name: 'log' })), /EMFILE/);
  const open = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  assert.ok(!open.includes(names.active), names.active);
});

test('an incomplete last line is saved and synced, with its directory, before it is cut', async (t) => {
  const { names, synced, events } = await open(t, {}, 'one\ntw');
  assert.deepEqual(synced, ['data', 'directory', 'data', 'directory']);
  const savedAs = names.torn(1);
  assert.deepEqual(events, [{ type: 'tail-cut', bytes: 2, savedAs }]);
  assert.equal(await readFile(savedAs, 'utf8'), 'tw');
  assert.equal((await stat(savedAs)).mode & 0o777, 0o600);
  assert.equal(await readFile(names.active, 'utf8'), 'one\n');
});

test('a segment is filled to its size, and a larger batch goes into an empty segment', async (t) => {
  const { store, names } = await open(t, { segmentBytes: 8 });
  await commit(store, '123456789\n');
  await commit(store, 'one\n');
  await commit(store, 'two\n');
  await commit(store, '3\n');
  assert.deepEqual(await names.listClosed(), [1, 2]);
  assert.equal(await readFile(names.closed(1), 'utf8'), '123456789\n');
  assert.equal(await readFile(names.closed(2), 'utf8'), 'one\ntwo\n');
  assert.equal(await readFile(names.active, 'utf8'), '3\n');
  assert.deepEqual(store.retainFiles().closed, [names.closed(2), names.closed(1)]);
});

test('a closed segment holds only acknowledged batches, and an empty one is deleted', async (t) => {
  const { store, names } = await open(t);
  await store.startSegment();
  assert.deepEqual(await names.listClosed(), []);
  await commit(store, 'one\n');
  await appendFile(names.active, 'never acknowledged\n');
  await store.startSegment();
  assert.equal(await readFile(names.closed(1), 'utf8'), 'one\n');
  await unlink(names.active);
  await store.startSegment();
  assert.deepEqual(await names.listClosed(), [1]);
  assert.equal(await readFile(names.active, 'utf8'), '');
});

test('deleted segments are reported, and their directory is synced', async (t) => {
  const { store, names, synced, events } = await open(t, { segmentBytes: 1, retainSegments: 1 });
  for (const line of ['1\n', '2\n']) await commit(store, line);
  assert.deepEqual(events, []);
  synced.length = 0;
  await commit(store, '3\n');
  assert.deepEqual(events, [{ type: 'segments-removed', files: [names.closed(1)] }]);
  assert.deepEqual(synced, ['data', 'directory', 'directory', 'data']);
  assert.deepEqual(store.retainFiles().closed, [names.closed(2)]);
});

test('a probe leaves the file unchanged, and fails if its bytes do not reach the file', async (t) => {
  const { store, names, synced, hooks } = await open(t);
  await commit(store, 'one\n');
  synced.length = 0;
  let seen = 0;
  hooks.onData = async () => {
    seen = (await stat(names.active)).size;
  };
  await store.probe();
  assert.deepEqual([synced, seen], [['data'], 4 + 4096]);
  assert.equal(await readFile(names.active, 'utf8'), 'one\n');
  hooks.onData = () => truncate(names.active, 100);
  await assert.rejects(store.probe(), {
    code: 'unavailable',
    message: `${names.active} does not contain the records that were written to it`,
  });
  assert.equal((await stat(names.active)).size, 4);
});

test('a batch whose file was moved away is written again, at most three times', async (t) => {
  const { store, names, events, hooks } = await open(t);
  let moves = 0;
  hooks.onData = async () => {
    // Opening syncs too, so only the file that holds the batch is moved.
    if ((await readFile(names.active, 'utf8')) !== '') await rename(names.active, `${names.active}.${++moves}`);
  };
  await assert.rejects(commit(store, 'one\n'), {
    code: 'unavailable',
    message: `another program is changing ${names.active}`,
  });
  assert.equal(moves, 3);
  assert.deepEqual(events, Array(3).fill({ type: 'reopened' }));
  assert.equal(await readFile(`${names.active}.1`, 'utf8'), '');
  hooks.onData = async () => undefined;
  await commit(store, 'two\n');
  assert.equal(await readFile(names.active, 'utf8'), 'two\n');
});

test('lines that another program writes after a batch stay after it', async (t) => {
  const { store, names, events, hooks } = await open(t);
  let calls = 0;
  hooks.onData = async () => {
    calls += 1;
    if (calls === 1) await appendFile(names.active, 'by hand\n');
  };
  await commit(store, 'one\n');
  assert.deepEqual(events, [{ type: 'reopened' }]);
  await commit(store, 'two\n');
  assert.equal(await readFile(names.active, 'utf8'), 'one\nby hand\ntwo\n');
});

test('a file stays open while a reader holds it', async (t) => {
  const { store, names } = await open(t);
  await commit(store, 'one\n');
  const { active, size } = store.retainFiles();
  await store.startSegment();
  await rm(names.closed(1));
  const { bytesRead } = await active.handle.read(Buffer.alloc(10), 0, 10, 0);
  assert.deepEqual([bytesRead, size], [4, 4]);
  await active.release();
  await assert.rejects(active.handle.stat(), { code: 'EBADF' });
});

test('a directory in place of the file fails the opening and is left alone', async (t) => {
  const { store, names } = await open(t);
  await unlink(names.active);
  await mkdir(names.active);
  await assert.rejects(store.refresh(), {
    code: 'unusable',
    message: `${names.active} is not a regular file; move ${names.active} away`,
  });
  assert.ok((await stat(names.active)).isDirectory());
});
