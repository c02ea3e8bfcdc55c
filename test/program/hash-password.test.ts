import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { isPassword } from '../../src/auth/password.ts';
import { main, runProgram } from '../support/program.ts';

test('a password from standard input becomes an argon2id hash, without the line break of echo', async () => {
  for (const input of ['open sesame', 'open sesame\n', 'open sesame\r\n']) {
    const { stdout, stderr, code } = await runProgram(['hash-password'], { input });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^\$argon2id\$v=19\$\S+\n$/);
    assert.equal(await isPassword('open sesame', stdout.trim()), true);
  }
});

test('an empty password, one that is too long, and one given as an argument are refused', async () => {
  const refuse = async (args: string[], input: string) => {
    const { code, stdout, stderr } = await runProgram(['hash-password', ...args], { input });
    assert.deepEqual([code, stdout], [2, '']);
    return stderr;
  };
  assert.equal(await refuse([], '\n'), 'signalbox: the password is empty\n');
  assert.equal(await refuse([], 'x'.repeat(129)), 'signalbox: the password is longer than 128 bytes\n');
  assert.equal(await refuse([], 'é'.repeat(5000)), 'signalbox: the password is longer than 128 bytes\n');
  assert.match(await refuse(['secret'], ''), /takes no further words/);
});

test('a password that no login could send as it is, or that is more than one line, is refused', async () => {
  const refusals: [string | Buffer, string][] = [
    [Buffer.from([0x70, 0xff, 0x70]), 'is not valid UTF-8'],
    [Buffer.from([0x70, 0xc3]), 'is not valid UTF-8'],
    ['open\nsesame\n', 'has a line break in it'],
    ['open\rsesame', 'has a line break in it'],
    ['\nopen', 'has a line break in it'],
    ['open sesame\n\n', 'has a line break in it'],
    ['open\0sesame', 'has a NUL in it'],
  ];
  for (const [input, problem] of refusals) {
    const { code, stdout, stderr } = await runProgram(['hash-password'], { input });
    assert.deepEqual([code, stdout, stderr], [2, '', `signalbox: the password ${problem}\n`]);
  }
});

test('a password of 128 bytes is hashed, whatever its letters', async () => {
  for (const password of ['é'.repeat(64), 'x'.repeat(128)]) {
    const { stdout } = await runProgram(['hash-password'], { input: `${password}\r\n` });
    assert.equal(await isPassword(password, stdout.trim()), true);
  }
});

test('on a terminal it asks, and shows nothing of what is typed', async (t) => {
  // `script` of util-linux gives the program a terminal of its own.
  const child = spawn('script', ['-qec', `'${process.execPath}' '${main}' hash-password`, '/dev/null']);
  const failed = await new Promise((resolve) =>
    child.on('spawn', () => resolve(false)).on('error', () => resolve(true)),
  );
  if (failed) return t.skip('there is no program `script` to make a terminal');
  let shown = '';
  await new Promise((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
      if (shown === 'Password: ') child.stdin.write('open sesame\r');
    });
    child.on('close', resolve);
  });
  const [prompt = '', hash = ''] = shown.trim().split(/\r?\n/);
  assert.equal(prompt, 'Password: ');
  assert.equal(await isPassword('open sesame', hash), true);
});
