import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { PassThrough, Readable } from 'node:stream';
import { test } from 'node:test';
import { isPassword } from '../../src/auth/password.ts';
import { UsageError } from '../../src/cli/args.ts';
import { printPasswordHash } from '../../src/cli/hash-password.ts';
import { command, runProgram } from '../support/program.ts';

/** Returns the program's output for a password on standard input. */
const hash = async (input: string | Buffer): Promise<string> => {
  const output = new PassThrough();
  const stdin = Readable.from([Buffer.from(input)]) as unknown as NodeJS.ReadStream;
  await printPasswordHash({ input: stdin, output, messages: output });
  return String(output.read());
};

test('a password from standard input becomes one line with an argon2id hash', async () => {
  const { stdout, stderr, code } = await runProgram(['hash-password'], { input: 'open sesame\n' });
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^\$argon2id\$v=19\$\S+\n$/);
  assert.equal(await isPassword('open sesame', stdout.trim()), true);
});

test('the line break that ends the input is not part of the password', async () => {
  for (const input of ['open sesame', 'open sesame\n', 'open sesame\r\n']) {
    assert.equal(await isPassword('open sesame', (await hash(input)).trim()), true);
  }
});

test('a refused password is one line on stderr, with exit code 2', async () => {
  const { code, stdout, stderr } = await runProgram(['hash-password'], { input: '\n' });
  assert.deepEqual([code, stdout, stderr], [2, '', 'signalbox: the password is empty\n']);
});

test('a password that is empty, too long or impossible to send in a login is refused', async () => {
  const refusals: [string | Buffer, string][] = [
    ['\n', 'is empty'],
    ['x'.repeat(129), 'is longer than 128 bytes'],
    ['é'.repeat(5000), 'is longer than 128 bytes'],
    [Buffer.from([0x70, 0xff, 0x70]), 'is not valid UTF-8'],
    [Buffer.from([0x70, 0xc3]), 'is not valid UTF-8'],
    ['open\nsesame\n', 'contains a line break'],
    ['open\rsesame', 'contains a line break'],
    ['\nopen', 'contains a line break'],
    ['open sesame\n\n', 'contains a line break'],
    ['open\0sesame', 'contains a NUL character'],
  ];
  for (const [input, problem] of refusals) {
    await assert.rejects(hash(input), new UsageError(`the password ${problem}`));
  }
});

test('a password of 128 bytes is accepted, with any characters', async () => {
  for (const password of ['é'.repeat(64), 'x'.repeat(128)]) {
    assert.equal(await isPassword(password, (await hash(`${password}\r\n`)).trim()), true);
  }
});

test('in a terminal hash-password asks for the password and does not echo it', async (t) => {
  // `script` from util-linux runs the program in a terminal.
  const child = spawn('script', ['-qec', `'${command.join("' '")}' hash-password`, '/dev/null']);
  const failed = await new Promise((resolve) =>
    child.on('spawn', () => resolve(false)).on('error', () => resolve(true)),
  );
  if (failed) return t.skip('script(1) is not installed');
  let shown = '';
  await new Promise((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
      if (shown === 'Password: ') child.stdin.write('open sesame\r');
    });
    child.on('close', resolve);
  });
  const [prompt = '', printed = ''] = shown.trim().split(/\r?\n/);
  assert.equal(prompt, 'Password: ');
  assert.equal(await isPassword('open sesame', printed), true);
});
