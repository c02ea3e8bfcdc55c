import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeProgram } from '../../../test/support/child-programs.ts';
import { fc } from '../../../test/support/random.ts';
import { createLineReader, readChildText } from './child-output.ts';
import { CommandFailure } from './runner.ts';

const signal = new AbortController().signal;

test('output is read to the end, and a failed program rejects with its message', async (t) => {
  const args = ['-c', 'echo é; echo bad >&2; exit "$1"', 'sh'];
  const request = { program: '/bin/sh', signal, maxBytes: 100 };
  assert.equal(await readChildText({ ...request, args: [...args, '0'] }), 'é\n');
  await assert.rejects(readChildText({ ...request, args: [...args, '1'] }), new CommandFailure('sh failed: bad'));
  const program = writeProgram(t, 'silent', 'exit 2');
  const failure = new CommandFailure('silent failed: the program wrote no error message');
  await assert.rejects(readChildText({ ...request, program, args: [] }), failure);
});

test('a program that writes too much is terminated', async () => {
  const failure = new CommandFailure('yes wrote more than 1000000 bytes');
  const request = { program: '/usr/bin/yes', args: [], signal, maxBytes: 1_000_000 };
  await assert.rejects(readChildText(request), failure);
});

test('lines are reassembled from output that is split anywhere', async () => {
  const lines = fc.array(fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\n')));
  await fc.assert(
    fc.asyncProperty(lines, fc.integer({ min: 1, max: 7 }), async (expected, size) => {
      const found: (string | undefined)[] = [];
      const read = createLineReader((line) => found.push(line) > 0, 1000);
      const bytes = Buffer.from(expected.map((line) => `${line}\n`).join(''));
      for (let at = 0; at < bytes.length; at += size) await read(bytes.subarray(at, at + size));
      assert.deepEqual(
        found,
        expected.map((line) => Buffer.from(line).toString()),
      );
    }),
  );
});

test('many lines are read without blocking other work', async () => {
  let lines = 0;
  const read = createLineReader((line) => {
    lines += JSON.parse(String(line)).length;
    return true;
  }, 1_000_000);
  const entry = `${JSON.stringify(Array(20_000).fill('x'))}\n`;
  const reading = read(Buffer.from(entry.repeat(100)));
  const turns: number[] = [];
  const timer = setInterval(() => turns.push(lines), 1);
  await reading;
  clearInterval(timer);
  assert.equal(lines, 2_000_000);
  assert.ok(new Set(turns).size > 5);
});

test('a line that is too long is skipped, and reading stops when the reader returns false', async () => {
  const found: (string | undefined)[] = [];
  const read = createLineReader((line) => found.push(line) < 3, 4);
  assert.ok(await read(Buffer.from('abcd\nabc')));
  assert.ok(await read(Buffer.from('def')));
  assert.ok(!(await read(Buffer.from('ghi\nxy\nz\n'))));
  assert.deepEqual(found, ['abcd', undefined, 'xy']);
});
