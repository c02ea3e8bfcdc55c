import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openConnection } from '../support/connection.ts';
import { createFolder } from '../support/folder.ts';
import type { Finished } from '../support/kept-program.ts';
import { command, startProgram } from '../support/program.ts';
import { atEnd } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';

/** Rejects if the program does not end in time. */
const within = async (limitMs: number, ended: Promise<Finished>): Promise<Finished> => {
  let finished: Finished | undefined;
  void ended.then((value) => {
    finished = value;
  });
  await waitUntil('the process has ended', () => finished !== undefined, limitMs);
  return ended;
};

const atOnceMs = 3000;

// Native code also ends a process with SIGTRAP and SIGABRT.
for (const fault of ['SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGABRT', 'SIGTRAP'] as const) {
  test(`${fault}, a native fault, ends the program immediately`, async (t) => {
    const { stop } = await startProgram(t, []);
    const { signal } = await within(atOnceMs, stop(fault));
    assert.equal(signal, fault);
  });
}

test('SIGUSR1 opens no debugger, and neither it nor SIGUSR2 ends the server', async (t) => {
  const { child, request, output } = await startProgram(t, []);
  child.kill('SIGUSR1');
  child.kill('SIGUSR2');
  await request('GET', '/health');
  assert.equal((await request('GET', '/health')).status, 200);
  assert.doesNotMatch(output.stderr, /Debugger listening/);
});

test('SIGQUIT stops the server with exit code 0', async (t) => {
  const { stop } = await startProgram(t, []);
  const { code, signal } = await stop('SIGQUIT');
  assert.deepEqual([code, signal], [0, null]);
});

test('a second signal ends a server that is still stopping, with one line and exit code 1', async (t) => {
  const { url, request, child, output, stop } = await startProgram(t, []);
  const unfinished = openConnection(url);
  unfinished.send('POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{');
  // A second request shows that the first has reached the server.
  await request('GET', '/health');
  child.kill('SIGTERM');
  await waitUntil('the server is stopping', () => output.stderr.includes('"shutting down"'));
  const { code, stderr } = await within(atOnceMs, stop('SIGTERM'));
  assert.equal(code, 1);
  assert.match(
    stderr,
    /"level":50,.*"msg":"second SIGTERM during shutdown: exiting without completing work in progress"/,
  );
});

const isExecutable = command.length === 1;

for (const [what, statement] of [
  ['an uncaught error', 'throw new Error("planted")'],
  ['a rejection that nobody handles', 'Promise.reject(new Error("planted"))'],
] as const) {
  test(`${what} stops the server with one line and exit code 1`, {
    skip: isExecutable && 'no other module can be loaded into the executable',
  }, async (t) => {
    const path = join(createFolder(t), 'plant.mjs');
    writeFileSync(path, `process.on('SIGUSR2', () => { ${statement}; });`);
    const { stop } = await startProgram(t, [], { variables: { NODE_OPTIONS: `--import=${path}` } });
    const { code, stderr } = await within(atOnceMs, stop('SIGUSR2'));
    assert.equal(code, 1);
    const fatal = stderr.split('\n').filter((line) => line.includes('"level":60'));
    assert.equal(fatal.length, 1);
    assert.match(fatal[0] ?? '', /"message":"planted",.*"msg":"unexpected error"/);
  });
}

test('SIGHUP stops a server whose terminal has closed', {
  skip: spawnSync('script', ['--version']).status !== 0 && 'script(1) is not installed',
}, async (t) => {
  // The shell prints its process id, and the server then replaces the shell.
  const line = `echo pid $$; exec '${command.join("' '")}' --port 0 </dev/null`;
  const terminal = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: createFolder(t),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const closed = once(terminal, 'exit');
  let shown = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  const readPid = () => Number(/pid (\d+)/.exec(shown)?.[1]);
  atEnd(t, async () => {
    terminal.kill('SIGKILL');
    await closed;
  });
  await waitUntil('the server listens', () => shown.includes('listens on'));
  process.kill(readPid(), 'SIGHUP');
  await waitUntil('the server has ended', () => terminal.exitCode !== null, 10_000);
  assert.equal(terminal.exitCode, 0);
});
