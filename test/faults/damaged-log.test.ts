import assert from 'node:assert/strict';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createLog, listMessages, startAlerts, store, writeLog } from './support/damage.ts';
import { createTemporaryFolder } from './support/ending.ts';
import { isLong } from './support/rounds.ts';

const six = [1, 2, 3, 4, 5, 6].map((number) => `alert ${number}`);

/** Every byte in the long form, else some. */
const step = isLong ? 1 : 17;

/** Starts on the data directory; what is listed, before and after one more alert was stored. */
const startOn = async (t: TestContext, dataDir: string): Promise<string[]> => {
  const app = await startAlerts(t, dataDir);
  const found = await listMessages(app);
  assert.ok(await store(app, 'one more'));
  assert.deepEqual(await listMessages(app), [...found, 'one more']);
  await app.close();
  return found;
};

test('a log cut anywhere in its last three records starts with all whole ones, and saves the rest', async (t) => {
  const { dataDir, bytes, starts } = await createLog(t, createTemporaryFolder(t), 6);
  for (let size = starts[3] ?? 0; size <= bytes.length; size += step) {
    rmSync(dataDir, { recursive: true });
    writeLog(dataDir, [bytes.subarray(0, size)]);
    const whole = [...starts.slice(1), bytes.length].filter((end) => end <= size);
    assert.deepEqual(await startOn(t, dataDir), six.slice(0, whole.length), `cut at ${size}`);
    const saved = readdirSync(dataDir).filter((name) => name.endsWith('.torn'));
    const rest = Buffer.concat(saved.map((name) => readFileSync(join(dataDir, name))));
    assert.deepEqual(rest, bytes.subarray(whole.at(-1), size));
  }
});

test('a byte that has changed hides its own record, or two where it was their newline, and no other', async (t) => {
  const { dataDir, file, bytes, starts } = await createLog(t, createTemporaryFolder(t), 6);
  const app = await startAlerts(t, dataDir);
  const handle = openSync(file, 'r+');
  t.after(() => closeSync(handle));
  const [begin = 0, end = 0] = starts.slice(2);
  for (let at = begin; at < end; at++) {
    for (const bit of isLong ? [1, 2, 4, 8, 16, 32, 64, 128] : [1]) {
      writeSync(handle, Buffer.of(bytes.readUInt8(at) ^ bit), 0, 1, at);
      const hidden = at === end - 1 ? ['alert 3', 'alert 4'] : ['alert 3'];
      const expected = six.filter((message) => !hidden.includes(message));
      assert.deepEqual(await listMessages(app), expected, `bit ${bit} of byte ${at}`);
      writeSync(handle, bytes, at, 1, at);
    }
  }
  assert.deepEqual(await listMessages(app), six);
  assert.ok(await store(app, 'one more'));
  assert.deepEqual(await listMessages(app), [...six, 'one more']);
});

const byHand = '{"message":"by hand"}';
const older =
  '{"timestamp":"2025-01-02T03:04:05","source":"s","level":"INFO","message":"older","hostname":"h","receivedAt":"03:04:05"}';

for (const { what, before = '', after = '', expected } of [
  { what: 'a tail of NUL bytes', after: Buffer.alloc(5000), expected: six },
  { what: 'NUL bytes within', before: Buffer.concat([Buffer.alloc(5000), Buffer.from('\n')]), expected: six },
  { what: 'lines that end in CRLF', before: `${byHand}\r\n\r\n`, expected: ['by hand', ...six] },
  { what: 'a byte order mark', before: `\ufeff${byHand}\n`, expected: ['by hand', ...six] },
  { what: 'bad UTF-8', before: Buffer.from('{"message":"\xff\xfe"}\n', 'latin1'), expected: six },
  { what: 'a line of 10 MB in front', before: `{"message":"${'x'.repeat(10e6)}"}\n`, expected: six },
  { what: 'a line of 10 MB at the end', after: `{"message":"${'x'.repeat(10e6)}"}\n`, expected: six },
  { what: '10 MB without a newline', after: 'x'.repeat(10e6), expected: six },
  { what: 'empty lines', before: '\n\n  \n', after: '\n\n', expected: six },
  { what: 'JSON that is no record', before: '[1]\nnull\n"text"\n7\n', expected: six },
  { what: 'lines of an older version', before: `${older}\n`, expected: ['older', ...six] },
  { what: 'lines by hand', after: `${byHand}\n`, expected: [...six, 'by hand'] },
]) {
  test(`${what}: the log starts, lists its records and goes on`, async (t) => {
    const { dataDir, bytes } = await createLog(t, createTemporaryFolder(t), 6);
    writeLog(dataDir, [before, bytes, after]);
    assert.deepEqual(await startOn(t, dataDir), expected);
  });
}

test('an empty file, and one of lines by hand alone, are logs', async (t) => {
  const dataDir = join(createTemporaryFolder(t), 'data');
  writeLog(dataDir, []);
  assert.deepEqual(await startOn(t, dataDir), []);
  writeLog(dataDir, [`${byHand}\n${older}\n`]);
  assert.deepEqual(await startOn(t, dataDir), ['by hand', 'older']);
});

test('a directory in the place of the log, and a file in that of the directory, are told', async (t) => {
  const folder = createTemporaryFolder(t);
  const dataDir = join(folder, 'data');
  const file = join(dataDir, 'alerts.jsonl');
  mkdirSync(file, { recursive: true });
  await assert.rejects(startAlerts(t, dataDir), {
    message: `dataDir: ${file} is in the way: it is not a regular file`,
  });
  writeFileSync(join(folder, 'file'), '');
  await assert.rejects(startAlerts(t, join(folder, 'file')), /ENOTDIR/);
});
