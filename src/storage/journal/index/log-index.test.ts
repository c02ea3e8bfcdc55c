import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../../../../test/support/folder.ts';
import { openTestJournal, type TestJournal } from '../../../../test/support/journal.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { createId, toLineStart, toRecordLine } from '../line.ts';
import type { Indexing } from '../options.ts';

const indexing: Indexing = {
  timeOf: ({ at }) => Number(at),
  keyOf: ({ level }) => String(level),
  keys: ['ERROR'],
};
const options = { segmentBytes: 100_000, sync: false, indexing };

const filler = 'x'.repeat(900);
const perFile = 90;

/** Creates a log of ten closed segments and an active file. The time of each record is its number. */
const createLog = async (t: TestContext, createRecordId = () => createId()): Promise<string> => {
  const directory = createFolder(t);
  for (let file = 1; file <= 11; file += 1) {
    const lines = Array.from({ length: perFile }, (_, index) => {
      const seq = (file - 1) * perFile + index + 1;
      return toRecordLine(toLineStart({ n: seq, at: seq, level: 'ERROR', filler }, createRecordId()), seq);
    });
    const name = file === 11 ? 'log.jsonl' : `log.${String(file).padStart(8, '0')}.jsonl`;
    await writeFile(join(directory, name), lines.join(''));
  }
  return directory;
};

const listSidecars = async (directory: string): Promise<string[]> =>
  (await readdir(directory)).filter((name) => /\d\.index$/.test(name)).sort();

const allSidecars = Array.from({ length: 10 }, (_, index) => `log.${String(index + 1).padStart(8, '0')}.index`);

const waitForSidecars = (directory: string): Promise<void> =>
  waitUntil('every closed segment has a sidecar', async () => (await listSidecars(directory)).length === 10);

/** Small budget. It suffices for two sidecars and some blocks but not for two segments. */
const fewBytes = 150_000;

/** Searches for as many old records as a segment has. */
const searchOld = async (journal: TestJournal): Promise<unknown[]> => {
  const { records } = await journal.search({ since: 100, until: 110, limit: 100, maxBytes: fewBytes });
  return records.map(({ n }) => n);
};

test('background indexing reports the number of finished files', async (t) => {
  const directory = await createLog(t);
  const reported: [number, number][] = [];
  const onIndexed = (done: number, files: number) => reported.push([done, files]);
  const journal = await openTestJournal(t, directory, { ...options, onIndexed });
  await searchOld(journal);
  await waitUntil('all files are done', () => reported.at(-1)?.[0] === reported.at(-1)?.[1] && reported.length > 0);
  assert.deepEqual(
    reported,
    reported.map((_, index) => [index, reported.length - 1]),
  );
  assert.ok(reported.length >= 9, `${reported.length} reports`);
});

const old = [109, 108, 107, 106, 105, 104, 103, 102, 101, 100];

test('closed segments are indexed by the first search; later searches read only blocks that can match', async (t) => {
  const directory = await createLog(t);
  const journal = await openTestJournal(t, directory, options);
  assert.deepEqual(await listSidecars(directory), []);
  assert.deepEqual(await searchOld(journal), []);
  await waitForSidecars(directory);
  assert.deepEqual(await listSidecars(directory), allSidecars);
  assert.deepEqual(await searchOld(journal), old);
  await journal.close();
  const next = await openTestJournal(t, directory, options);
  const sidecarBytes = (await readFile(join(directory, allSidecars[0] ?? ''))).length;
  assert.ok(sidecarBytes < 2000, `${sidecarBytes}`);
  assert.deepEqual(await searchOld(next), old);
});

for (const [what, spoil] of Object.entries({
  'with garbage': (path: string) => writeFile(path, 'garbage'),
  empty: (path: string) => writeFile(path, ''),
  'cut off': async (path: string) => writeFile(path, (await readFile(path)).subarray(0, -7)),
  'of another segment': async (path: string) => {
    await writeFile(path, await readFile(path.replace(/[^/]*$/, 'log.00000009.index')));
  },
  'with a changed byte': async (path: string) => {
    const bytes = await readFile(path);
    bytes.writeUInt8(bytes.readUInt8(80) ^ 1, 80);
    await writeFile(path, bytes);
  },
  'with a changed byte in its blocks': async (path: string) => {
    const bytes = await readFile(path);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 10) ^ 1, bytes.length - 10);
    await writeFile(path, bytes);
  },
  'of version 1.1.0': (path: string) =>
    writeFile(path, '3a1b2c4d\n{"version":1,"bytes":1,"check":1,"keys":[],"blocks":[]}'),
  deleted: (path: string) => unlink(path),
  'replaced by a directory': async (path: string) => {
    await unlink(path);
    await mkdir(path);
  },
  'replaced by a link to itself': async (path: string) => {
    await unlink(path);
    await symlink(path, path);
  },
} satisfies Record<string, (path: string) => Promise<unknown>>)) {
  test(`a sidecar that is ${what} changes nothing that is found`, async (t) => {
    const directory = await createLog(t);
    const journal = await openTestJournal(t, directory, options);
    await searchOld(journal);
    await waitForSidecars(directory);
    await journal.close();
    for (const name of [...allSidecars.slice(0, 5), 'log.index']) await spoil(join(directory, name));
    const next = await openTestJournal(t, directory, options);
    const { records } = await next.search({ since: 1, until: 101, limit: 1000, maxBytes: 1e9 });
    assert.deepEqual(
      records.map(({ n }) => n),
      Array.from({ length: 100 }, (_, index) => 100 - index),
    );
    const active = await next.search({ since: 901, until: 991, limit: 1000, maxBytes: 1e9 });
    assert.equal(active.records.length, 90);
    await waitUntil('the search reads little of the log', async () => (await searchOld(next)).length === 10);
    // Sidecars of other segments may still be in the process of being written.
    const isUnfinished = (name: string): boolean => name.endsWith('.tmp');
    await waitUntil('no unfinished file is left', async () => !(await readdir(directory)).some(isUnfinished));
  });
}

/** Opens the log, searches the active file, and closes the log. Returns the number of records found. */
const searchActive = async (t: TestContext, directory: string, maxBytes = 1e9): Promise<number> => {
  const journal = await openTestJournal(t, directory, options);
  const { records } = await journal.search({ since: 901, until: 911, limit: 100, maxBytes });
  await journal.close();
  return records.length;
};

test('the sidecar of the active file saves reading the file after a restart', async (t) => {
  const directory = await createLog(t);
  assert.equal(await searchActive(t, directory), 10);
  assert.equal(await searchActive(t, directory, fewBytes / 2), 10);
  await unlink(join(directory, 'log.index'));
  assert.equal(await searchActive(t, directory, fewBytes / 2), 0);
});

test('records that were added after the sidecar of the active file was written are found and counted', async (t) => {
  const directory = await createLog(t);
  assert.equal(await searchActive(t, directory), 10);
  const journal = await openTestJournal(t, directory, options);
  for (let n = 991; n < 1000; n += 1) await journal.append({ n, at: n, level: 'ERROR' });
  const { records } = await journal.search({ since: 985, limit: 100, maxBytes: 1e9 });
  assert.deepEqual(
    records.map(({ n }) => n),
    Array.from({ length: 15 }, (_, index) => 999 - index),
  );
  let counted = 0;
  const add = (_: number, _key: string | undefined, count: number): void => {
    counted += count;
  };
  assert.ok(await journal.countByMinute({ since: 0, until: 1, maxBytes: 1e9, add }));
  assert.equal(counted, 999);
});

for (const [what, change] of Object.entries({
  shortened: (lines: string[]) => lines.slice(0, 50),
  'replaced by another file': (lines: string[]) => [...lines.slice(45), ...lines.slice(0, 45), ...lines.slice(0, 5)],
})) {
  test(`the sidecar of an active file that was ${what} while the log was closed is not used`, async (t) => {
    const directory = await createLog(t);
    assert.equal(await searchActive(t, directory), 10);
    const path = join(directory, 'log.jsonl');
    const lines = change((await readFile(path, 'utf8')).split(/(?<=\n)/));
    await writeFile(path, lines.join(''));
    const journal = await openTestJournal(t, directory, options);
    const { records } = await journal.search({ since: 901, limit: 1000, maxBytes: 1e9 });
    assert.equal(records.length, lines.length);
  });
}

test('retention deletes the sidecar with its segment', async (t) => {
  const directory = await createLog(t);
  const journal = await openTestJournal(t, directory, options);
  await searchOld(journal);
  await waitForSidecars(directory);
  await journal.close();
  await openTestJournal(t, directory, { ...options, retainSegments: 2 });
  assert.deepEqual(await listSidecars(directory), allSidecars.slice(8));
});

test('a sidecar of a deleted segment is not used for the next segment with its number', async (t) => {
  const directory = await createLog(t);
  const journal = await openTestJournal(t, directory, options);
  await searchOld(journal);
  await waitForSidecars(directory);
  await journal.close();
  for (const name of allSidecars.slice(1)) await rm(join(directory, name.replace('.index', '.jsonl')));
  await rename(join(directory, 'log.jsonl'), join(directory, 'log.00000002.jsonl'));
  const next = await openTestJournal(t, directory, options);
  const { records } = await next.search({ since: 901, until: 911, limit: 100, maxBytes: 1e9 });
  assert.equal(records.length, 10);
});

test('records are found by ids without a time, too', async (t) => {
  const ids: string[] = [];
  const directory = await createLog(t, () => {
    ids.push(randomUUID());
    return ids.at(-1) ?? '';
  });
  const journal = await openTestJournal(t, directory, options);
  for (const n of [1, 90, 91, 500, 990]) assert.equal((await journal.find(ids[n - 1] ?? ''))?.['n'], n);
  assert.equal(await journal.find(randomUUID()), undefined);
  assert.equal(await journal.find(createId()), undefined);
  assert.equal(await journal.find('"'), undefined);
});

test('keys beyond the limit are counted together, and configured keys always separately', async (t) => {
  const journal = await openTestJournal(t, createFolder(t), { ...options, segmentBytes: 1e9 });
  const levels = [...Array.from({ length: 5000 }, (_, index) => `level ${index}`), 'x'.repeat(65), 'ERROR'];
  await Promise.all(levels.map((level) => journal.append({ at: 60_000, level })));
  const counts = new Map<string | undefined, number>();
  const add = (_: number, key: string | undefined, count: number) => counts.set(key, count + (counts.get(key) ?? 0));
  assert.ok(await journal.countByMinute({ since: 1, until: 2, maxBytes: 1e9, add }));
  assert.equal(counts.get('ERROR'), 1);
  assert.equal(counts.size, 128);
  assert.equal(counts.get(undefined), 5002 - 127);
});

test('pages that are searched while records arrive and files are closed contain every record once', async (t) => {
  const journal = await openTestJournal(t, createFolder(t), options);
  let isOver = false;
  const write = async (): Promise<void> => {
    for (let n = 0; n < 1500; n += 1) await journal.append({ n, at: n, level: 'INFO', filler });
    isOver = true;
  };
  const read = async (): Promise<void> => {
    while (!isOver) {
      const seqs: number[] = [];
      for (let before: number | undefined; ; ) {
        const { records, next } = await journal.search({ before, limit: 37, maxBytes: 1e9 });
        seqs.push(...records.map(({ seq }) => seq));
        if (next === undefined) break;
        before = next;
      }
      const expected = Array.from({ length: seqs[0] ?? 0 }, (_, index) => (seqs[0] ?? 0) - index);
      assert.deepEqual(seqs, expected);
      await new Promise(setImmediate);
    }
  };
  await Promise.all([write(), read(), read(), read()]);
});
