import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openTaskStore } from '../../src/features/tasks/memory-store.ts';
import { openJournal } from '../../src/storage/journal/journal.ts';
import { createSnapshotFile } from '../../src/storage/snapshot-file.ts';
import { keepIn } from '../support/changes.ts';
import { createFolder } from '../support/folder.ts';
import { refusal, runCommand } from '../support/program.ts';
import { fileStore } from '../support/transfer.ts';
import { readTask } from './task-store.ts';

const now = () => new Date(2026, 0, 31, 9, 30);

const open = (folder: string) => openTaskStore(now, keepIn(folder));

/** Creates a folder with four seed tasks, and three changes in the log. */
const createStore = async (t: TestContext): Promise<string> => {
  const folder = createFolder(t);
  const store = await open(folder);
  await store.restore(Array.from({ length: 4 }, () => ({ Title: 'seed' })));
  await store.create({ Title: 'a' });
  await store.update(5, { Title: 'b' });
  await store.create({ Title: 'c' });
  await store.close();
  return folder;
};

test('file: a log that ends within its last record keeps every earlier change', async (t) => {
  const folder = await createStore(t);
  const log = join(folder, 'tasks.jsonl');
  const bytes = readFileSync(log);
  const lastLine = bytes.lastIndexOf('\n', bytes.length - 2) + 1;
  for (let end = lastLine; end < bytes.length; end += 5) {
    const copy = createFolder(t);
    cpSync(folder, copy, { recursive: true });
    truncateSync(join(copy, 'tasks.jsonl'), end);
    const store = await open(copy);
    assert.equal(readTask(await store.find(5))?.Title, 'b');
    // The id is assigned again, because the change was not acknowledged.
    assert.equal((await store.create({ Title: 'd' })).id, 6);
    await store.close();
    const again = await open(copy);
    assert.equal((await again.list({}, 0)).total, 6);
    await again.close();
  }
});

test('file: a snapshot with any changed byte, or that ends early, is refused as damaged', async (t) => {
  const folder = await createStore(t);
  const state = join(folder, 'tasks.state');
  const bytes = readFileSync(state);
  for (let place = 0; place < bytes.length - 1; place += 3) {
    const changed = Buffer.from(bytes);
    changed[place] = (bytes[place] ?? 0) ^ (1 << (place % 8));
    writeFileSync(state, changed);
    await assert.rejects(open(folder), { code: 'damaged' }, `byte ${place}`);
    writeFileSync(state, bytes.subarray(0, place));
    await assert.rejects(open(folder), { code: 'damaged' }, `${place} bytes`);
  }
});

test('file: a log that is behind the snapshot continues after it', async (t) => {
  const folder = createFolder(t);
  const state = createSnapshotFile(join(folder, 'tasks.state'));
  await state.write(50_000, [[{ lastId: 3 }]]);
  const begun = performance.now();
  for (const id of [4, 5]) {
    const store = await open(folder);
    assert.equal((await store.create({ Title: 'a' })).id, id);
    await store.close();
  }
  assert.ok(performance.now() - begun < 10_000);
});

test('file: the snapshot is written when the log has grown enough over several starts', async (t) => {
  const folder = createFolder(t);
  const Description = 'x'.repeat(1_000_000);
  for (let start = 0; start < 4; start += 1) {
    const store = await open(folder);
    for (let count = 0; count < 5; count += 1) await store.create({ Title: 'a', Description });
    await store.close();
  }
  assert.ok(existsSync(join(folder, 'tasks.state')));
});

const task = {
  Id: 7,
  Title: 'a',
  Description: '',
  Priority: 'Low',
  Status: 'Pending',
  CreatedAt: '2026-01-31T09:30:00',
};

/** Changes in unknown forms. */
const unknownChanges: unknown[] = [
  { moved: 5 },
  null,
  5,
  {},
  { removed: '5' },
  { lastId: null },
  { task: null, version: 1 },
  { task: { ...task, Status: 'Blocked' }, version: 1 },
  { task: { ...task, Priority: undefined }, version: 1 },
  { task: { ...task, Title: undefined }, version: 1 },
  { task, version: '1' },
  { task, version: 1, created: 'k' },
  { key: { key: 'k', bodyHash: 'h' }, task },
];

test('file: a record or snapshot in an unknown form is refused in one line and left unchanged', async (t) => {
  const folder = await createStore(t);
  const hint = 'restore the folder from a backup, or save the readable part with signalbox export';
  const inLog = 'dataDir: tasks: record 4 of the log cannot be read by this version of signalbox';
  for (const [index, changes] of [{}, 5, ...unknownChanges.map((change) => [change])].entries()) {
    const copy = createFolder(t);
    cpSync(folder, copy, { recursive: true });
    const journal = await openJournal({ directory: copy, name: 'tasks' });
    await journal.append({ changes });
    await journal.close();
    await assert.rejects(open(copy), { code: 'damaged' }, JSON.stringify(changes));
    if (index > 3) continue;
    const before = readFileSync(join(copy, 'tasks.jsonl'));
    assert.equal(await refusal(fileStore(copy), 1), `${inLog}; ${hint}`);
    assert.deepEqual(readFileSync(join(copy, 'tasks.jsonl')), before);
    const { code, stdout, stderr } = await runCommand(['export', ...fileStore(copy)]);
    assert.deepEqual([code, stdout.match(/"tasks"/g)?.length], [1, 6]);
    assert.match(
      stderr,
      /^signalbox: skipped a damaged part: tasks: record 4 of the log cannot be read by this version .*\n.*\n$/,
    );
  }
  for (const change of unknownChanges) {
    const copy = createFolder(t);
    await createSnapshotFile(join(copy, 'tasks.state')).write(3, [[change]]);
    await assert.rejects(open(copy), { code: 'damaged' }, JSON.stringify(change));
  }
});
