import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { command } from '../support/program.ts';
import { atEnd } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';

type Output = number | 'ignore';

/** Starts the server with these outputs and waits for its first response. */
const start = async (t: TestContext, stdout: Output, stderr: Output, ...args: string[]) => {
  const port = await findFreePort();
  const [program, ...programArgs] = command;
  const child = spawn(program, [...programArgs, '--port', `${port}`, ...args], {
    cwd: createFolder(t),
    stdio: ['ignore', stdout, stderr],
  });
  const ended = once(child, 'exit');
  atEnd(t, async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const ask = async (path = '/health'): Promise<number | undefined> => {
    const signal = AbortSignal.timeout(5000);
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal }).catch(() => undefined);
    await response?.text();
    return response?.status;
  };
  await waitUntil('the server responds', async () => {
    assert.equal(child.exitCode, null);
    return (await ask()) === 200;
  });
  const stop = async (): Promise<unknown[]> => {
    child.kill();
    return ended;
  };
  return { ask, stop };
};

const open = (t: TestContext, path: string, flags: number): number => {
  const file = openSync(path, flags);
  atEnd(t, () => closeSync(file));
  return file;
};

for (const [name, isStdoutFull, isStderrFull] of [
  ['stdout', true, false],
  ['stderr', false, true],
  ['stdout and stderr', true, true],
] as const) {
  test(`with ${name} on a full disk the server responds, and SIGTERM stops it with exit code 0`, {
    skip: process.platform === 'linux' ? false : 'there is no /dev/full',
  }, async (t) => {
    const full = open(t, '/dev/full', constants.O_WRONLY);
    const { ask, stop } = await start(t, isStdoutFull ? full : 'ignore', isStderrFull ? full : 'ignore');
    assert.equal(await ask(), 200);
    assert.deepEqual(await stop(), [0, null]);
  });
}

test('a log without a reader does not stop the server, and 1 MiB of it is kept for a later reader', {
  skip: process.platform === 'linux' ? false : 'named pipes need Linux here',
}, async (t) => {
  const path = join(createFolder(t), 'pipe');
  execFileSync('mkfifo', [path]);
  // The pipe is also open for reading. It therefore has a reader, although that reader does not read.
  const pipe = open(t, path, constants.O_RDWR | constants.O_NONBLOCK);
  const { ask, stop } = await start(t, pipe, pipe, '--log-level', 'debug');
  for (let count = 0; count < 400; count += 1) assert.equal(await ask(`/${count}/${'x'.repeat(4000)}`), 404);
  let text = readAvailable(pipe);
  // Each request logs a line, and waiting lines are written along with it.
  for (let count = 0; count < 40; count += 1) {
    assert.equal(await ask(), 200);
    text += readAvailable(pipe);
  }
  const lines = text.split('\n').filter((line) => line.includes('"request"'));
  const paths = lines.map((line) => String((JSON.parse(line) as Record<string, unknown>)['path']));
  const kept = paths.filter((found) => found.endsWith('x'));
  assert.deepEqual(
    kept.map((found) => found.split('/')[1]),
    kept.map((_, index) => `${index}`),
  );
  assert.ok(kept.length > 240 && kept.length < 300, `${kept.length} lines are kept`);
  assert.equal(paths.at(-1), '/health');
  assert.deepEqual(await stop(), [0, null]);
});

/** Returns the contents of a non-blocking pipe. */
const readAvailable = (pipe: number): string => {
  const pieces: Buffer[] = [];
  const buffer = Buffer.alloc(65_536);
  try {
    for (;;) pieces.push(Buffer.from(buffer.subarray(0, readSync(pipe, buffer))));
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN');
  }
  return Buffer.concat(pieces).toString();
};
