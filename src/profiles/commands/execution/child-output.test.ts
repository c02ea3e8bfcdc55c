import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeProgram } from '../testing.ts';
import { readChildText } from './child-output.ts';
import { CommandFailure } from './runner.ts';

const signal = new AbortController().signal;

test('text is read whole, and an error of the program becomes a failure with its words', async (t) => {
  const args = ['-c', 'echo é; echo bad >&2; exit "$1"', 'sh'];
  const request = { program: '/bin/sh', signal, maxBytes: 100 };
  assert.equal(await readChildText({ ...request, args: [...args, '0'] }), 'é\n');
  await assert.rejects(
    readChildText({ ...request, args: [...args, '1'] }),
    new CommandFailure('sh failed: bad'),
  );
  const program = writeProgram(t, 'silent', 'exit 2');
  const failure = new CommandFailure('silent failed: it gave no reason');
  await assert.rejects(readChildText({ ...request, program, args: [] }), failure);
});

test('a program that writes too much is ended', async () => {
  const failure = new CommandFailure('yes wrote more than 1000000 bytes');
  const request = { program: '/usr/bin/yes', args: [], signal, maxBytes: 1_000_000 };
  await assert.rejects(readChildText(request), failure);
});
