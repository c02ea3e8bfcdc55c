import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, readlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { appendNumbers, listNumbers, listRecords, openTestJournal } from '../../../test/support/journal.ts';

const writeSix = async (t: Parameters<typeof openTestJournal>[0]) => {
  const directory = createFolder(t);
  const journal = await openTestJournal(t, directory);
  await appendNumbers(journal, 1, 6);
  await journal.close();
  return { directory, file: journal.file, bytes: await readFile(journal.file) };
};

test('a log cut at any byte of its last three records loses only the records that were cut', async (t) => {
  const { directory, file, bytes } = await writeSix(t);
  const lineLength = bytes.length / 6;
  for (let size = bytes.length - 3 * lineLength; size <= bytes.length; size += 1) {
    await writeFile(file, bytes.subarray(0, size));
    const whole = Math.floor(size / lineLength);
    const journal = await openTestJournal(t, directory, { sync: false });
    assert.equal((await journal.append({ n: 'new' })).seq, whole + 1);
    assert.deepEqual(await listNumbers(journal), [...[1, 2, 3, 4, 5, 6].slice(0, whole), 'new']);
    const [cut] = journal.events;
    if (cut?.type === 'tail-cut') {
      assert.deepEqual(await readFile(cut.savedAs), bytes.subarray(whole * lineLength, size));
      assert.equal(cut.bytes, size % lineLength);
    }
    assert.equal(journal.events.length, size % lineLength === 0 ? 0 : 1);
    await journal.close();
  }
});

test('a changed byte in a middle record hides at most that record and its neighbour', async (t) => {
  const { directory, file, bytes } = await writeSix(t);
  const lineLength = bytes.length / 6;
  const journal = await openTestJournal(t, directory);
  for (let index = 2 * lineLength; index < 3 * lineLength; index += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(index) ^ 0x01, index);
    await writeFile(file, changed);
    const expected = index === 3 * lineLength - 1 ? [1, 2, 5, 6] : [1, 2, 4, 5, 6];
    assert.deepEqual(await listNumbers(journal), expected);
  }
  const damage = `the line at byte ${2 * lineLength} of log.jsonl cannot be read`;
  assert.deepEqual(journal.events, [{ type: 'damaged', damage }]);
});

const byHand = '{"n":"by hand"}';
const tenMegabytes = 'x'.repeat(10_000_000);

for (const { what, before = '', after = '', extra = [], damaged = 0 } of [
  { what: 'NUL bytes at the end', after: Buffer.alloc(5000) },
  { what: 'a line of NUL bytes', before: Buffer.from(`${'\0'.repeat(5000)}\n`), damaged: 1 },
  { what: 'lines that end in CRLF', before: `${byHand}\r\n\r\n`, extra: ['by hand'] },
  { what: 'a byte order mark', before: `\ufeff${byHand}\n`, extra: ['by hand'] },
  { what: 'bad UTF-8', before: Buffer.from('{"n":"\xff\xfe"}\n', 'latin1'), damaged: 1 },
  { what: 'a line of 10 MB at the start', before: `{"n":"${tenMegabytes}"}\n`, damaged: 1 },
  { what: 'a line of 10 MB at the end', after: `{"n":"${tenMegabytes}"}\n`, damaged: 1 },
  { what: '10 MB without a newline', after: tenMegabytes },
  { what: 'empty lines', before: '\n\n  \n', after: '\n\n' },
  { what: 'JSON that is not a record', before: '[1]\nnull\n"text"\n7\n', damaged: 4 },
]) {
  test(`a log with ${what} opens, lists its records and accepts new ones`, async (t) => {
    const { directory, file, bytes } = await writeSix(t);
    await writeFile(file, Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]));
    const journal = await openTestJournal(t, directory);
    assert.equal((await journal.append({ n: 7 })).seq, 7);
    assert.deepEqual(await listNumbers(journal), [...extra, 1, 2, 3, 4, 5, 6, 7]);
    assert.equal(journal.events.filter(({ type }) => type === 'damaged').length, damaged);
  });
}

test('an empty file is an empty log, and a file of handwritten lines is a log', async (t) => {
  const { directory, file } = await writeSix(t);
  await truncate(file, 0);
  const empty = await openTestJournal(t, directory);
  assert.deepEqual(await listRecords(empty), []);
  assert.equal((await empty.append({ n: 1 })).seq, 1);
  await empty.close();
  await writeFile(file, `${byHand}\n${byHand}\n`);
  const journal = await openTestJournal(t, directory);
  assert.equal((await journal.append({ n: 1 })).seq, 1);
  assert.deepEqual(await listNumbers(journal), ['by hand', 'by hand', 1]);
});

test('a torn last line that cannot be saved fails the startup and stays in the file', async (t) => {
  const { directory, file, bytes } = await writeSix(t);
  await truncate(file, bytes.length - 1);
  await mkdir(join(directory, 'log.00000001.torn'));
  await assert.rejects(openTestJournal(t, directory), {
    code: 'unusable',
    message: /EEXIST/,
  });
  assert.equal((await readFile(file)).length, bytes.length - 1);
});

test('a directory in place of the file, or a file in place of the directory, fails the startup', async (t) => {
  const directory = createFolder(t);
  await mkdir(join(directory, 'log.jsonl'));
  await assert.rejects(openTestJournal(t, directory), { code: 'unusable', message: /not a regular file/ });
  await writeFile(join(directory, 'file'), '');
  await assert.rejects(openTestJournal(t, join(directory, 'file')), {
    code: 'unusable',
    message: /cannot be written: a part of the path is not a folder$/,
  });
});

test('a closed journal holds no file open', { skip: process.platform !== 'linux' }, async (t) => {
  const { directory, file, bytes } = await writeSix(t);
  for (let time = 0; time < 5; time += 1) {
    await writeFile(file, bytes.subarray(0, -1));
    const journal = await openTestJournal(t, directory);
    await appendNumbers(journal, 6, 6);
    await listRecords(journal);
    await journal.close();
  }
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  assert.deepEqual(
    (await Promise.all(links)).filter((path) => path.startsWith(directory)),
    [],
  );
});
