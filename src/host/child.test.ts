import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { isRunning, writeProgram } from '../../test/support/child-programs.ts';
import { loader } from '../../test/support/source.ts';
import { waitUntil } from '../../test/support/wait.ts';
import { runChild } from './child.ts';

const signal = new AbortController().signal;
const ignore = (): boolean => true;

/** Collects the process ids that a program prints, one per line. */
const createPidReader = () => {
  let text = '';
  const onOutput = (piece: Buffer): boolean => {
    text += piece;
    return true;
  };
  return { onOutput, read: () => text.split('\n').filter(Boolean).map(Number) };
};

test('a program receives its arguments unchanged, and its output, stderr and exit code are returned', async (t) => {
  const program = writeProgram(t, 'echoes', 'printf "%s|" "$@"; echo "no good" >&2; exit 3');
  const pieces: Buffer[] = [];
  const args = ['$(id)', '; ls', '*', "'"];
  const end = await runChild({ program, args, onOutput: (piece) => pieces.push(piece) > 0, signal });
  assert.deepEqual(end, { exitCode: 3, stderr: 'no good' });
  assert.equal(Buffer.concat(pieces).toString(), "$(id)|; ls|*|'|");
});

test("a program does not inherit the server's environment", async () => {
  const pieces: Buffer[] = [];
  await runChild({ program: '/usr/bin/env', args: [], onOutput: (piece) => pieces.push(piece) > 0, signal });
  const lines = Buffer.concat(pieces).toString().trim().split('\n');
  const names = lines.map((line) => line.split('=')[0]);
  // Node passes this variable to every child process while measuring coverage.
  const own = names.filter((name) => name !== 'NODE_V8_COVERAGE');
  assert.deepEqual(own.sort(), ['LC_ALL', 'PATH', 'RUN_BY_SIGNALBOX', 'SYSTEMD_COLORS', 'SYSTEMD_PAGER']);
});

test('a program receives all of its input and its own environment', async (t) => {
  const program = writeProgram(t, 'reads', 'cat; printf "$GREETING"');
  const input = `${'x'.repeat(1_000_000)}\u20ac`;
  const pieces: Buffer[] = [];
  const onOutput = (piece: Buffer): boolean => pieces.push(piece) > 0;
  const environment = { PATH: '/usr/bin:/bin', GREETING: 'hello' };
  await runChild({ program, args: [], environment, input, onOutput, signal });
  assert.equal(Buffer.concat(pieces).toString(), `${input}hello`);
});

test('a program that does not read its input still returns its exit code', async (t) => {
  const program = writeProgram(t, 'deaf', 'exec <&-; exit 4');
  const input = 'x'.repeat(10_000_000);
  assert.equal((await runChild({ program, args: [], input, onOutput: ignore, signal })).exitCode, 4);
});

test('a treeEnder is called with the arguments of taskkill', async (t) => {
  const treeEnder = writeProgram(t, 'ender', 'echo "$@" > "$0.args"; kill -9 "$4"');
  const program = writeProgram(t, 'slow', 'echo $$; exec sleep 300');
  const controller = new AbortController();
  const pids = createPidReader();
  const request = { program, args: [], treeEnder, signal: controller.signal };
  const rejected = assert.rejects(runChild({ ...request, onOutput: pids.onOutput }), /^Error: enough$/);
  await waitUntil('one process runs', () => pids.read().length === 1);
  controller.abort(new Error('enough'));
  await rejected;
  assert.equal(readFileSync(`${treeEnder}.args`, 'utf8'), `/T /F /PID ${pids.read()[0]}\n`);
});

test('stderr is kept up to 4,096 characters', async (t) => {
  const program = writeProgram(t, 'noisy', 'head -c 100000 /dev/zero | tr "\\0" x >&2');
  const { stderr } = await runChild({ program, args: [], onOutput: ignore, signal });
  assert.equal(stderr, 'x'.repeat(4096));
});

test('an abort ends a program that ignores TERM, and its children', async (t) => {
  const program = writeProgram(t, 'stubborn', "trap '' TERM; sleep 300 & echo $$; echo $!; wait");
  const controller = new AbortController();
  const pids = createPidReader();
  const run = runChild({ program, args: [], onOutput: pids.onOutput, signal: controller.signal });
  const rejected = assert.rejects(run, /^Error: enough$/);
  await waitUntil('both processes run', () => pids.read().length === 2);
  assert.deepEqual(pids.read().map(isRunning), [true, true]);
  controller.abort(new Error('enough'));
  await rejected;
  await waitUntil('the processes have ended', () => !pids.read().some(isRunning));
});

test('processes that a program leaves behind in its group are ended when it exits', async (t) => {
  const program = writeProgram(t, 'leaves', 'sleep 300 & echo $!');
  const pids = createPidReader();
  assert.equal((await runChild({ program, args: [], onOutput: pids.onOutput, signal })).exitCode, 0);
  await waitUntil('the processes have ended', () => !pids.read().some(isRunning));
});

test('a process that leaves the group and keeps the output open is ended and does not delay the result', async (t) => {
  const daemon = `setsid sh -c 'echo $$; touch "$0.ready"; exec sleep 300' "$0" &`;
  const program = writeProgram(t, 'daemon', `${daemon} until [ -e "$0.ready" ]; do :; done`);
  const pids = createPidReader();
  const started = performance.now();
  assert.equal((await runChild({ program, args: [], onOutput: pids.onOutput, signal })).exitCode, 0);
  assert.ok(performance.now() - started < 5000);
  assert.equal(pids.read().length, 1);
  await waitUntil('the process has ended', () => !pids.read().some(isRunning));
});

test('a process that leaves the group and the output outlives a program that exits by itself', async (t) => {
  const program = writeProgram(t, 'service', 'setsid sleep 300 > /dev/null 2>&1 & echo $!');
  const pids = createPidReader();
  assert.equal((await runChild({ program, args: [], onOutput: pids.onOutput, signal })).exitCode, 0);
  assert.deepEqual(pids.read().map(isRunning), [true]);
  for (const pid of pids.read()) process.kill(pid, 'SIGKILL');
});

test('stopping a run ends its processes, even if they keep starting others, and leaves other runs alone', async (t) => {
  const other = writeProgram(t, 'other', 'echo $$; exec sleep 300');
  const chain = `while :; do setsid sh -c 'echo $$; sleep 0.01 & exec sleep 300' & sleep 0.05; done`;
  const program = writeProgram(t, 'chain', `setsid sh -c "$(cat "$0.loop")" & exec sleep 300`);
  writeFileSync(`${program}.loop`, chain);
  const stopped = new AbortController();
  const others = new AbortController();
  const pids = createPidReader();
  const otherPids = createPidReader();
  const run = runChild({ program, args: [], onOutput: pids.onOutput, signal: stopped.signal });
  const rejected = assert.rejects(run, /^Error: enough$/);
  const otherRun = runChild({ program: other, args: [], onOutput: otherPids.onOutput, signal: others.signal });
  const otherRejected = assert.rejects(otherRun, /^Error: enough$/);
  await waitUntil('processes run', () => pids.read().length > 5 && otherPids.read().length === 1);
  stopped.abort(new Error('enough'));
  await rejected;
  const count = pids.read().length;
  await waitUntil('the processes have ended', () => !pids.read().some(isRunning));
  assert.equal(pids.read().length, count);
  assert.deepEqual(otherPids.read().map(isRunning), [true]);
  others.abort(new Error('enough'));
  await otherRejected;
});

test('an abort ends a command although another process keeps writing to its output', async (t) => {
  const daemon = `setsid sh -c 'echo $$; exec yes' "$0" &`;
  const program = writeProgram(t, 'endless', `${daemon} exec sleep 300`);
  const controller = new AbortController();
  const pids = createPidReader();
  let text = '';
  const onOutput = (piece: Buffer): boolean => {
    if (!text.includes('y')) pids.onOutput(piece);
    text = piece.toString();
    return true;
  };
  const rejected = assert.rejects(
    runChild({ program, args: [], onOutput, signal: controller.signal }),
    /^Error: enough$/,
  );
  await waitUntil('the process writes', () => text.includes('y'));
  controller.abort(new Error('enough'));
  await rejected;
  await waitUntil('the process without a reader has ended', () => !pids.read().some(isRunning));
});

test('a program that has exited gets no signal, because another process may have its id', async (t) => {
  const daemon = `setsid sh -c 'echo $$; touch "$0.ready"; exec sleep 300' "$0" &`;
  const program = writeProgram(t, 'daemon', `${daemon} until [ -e "$0.ready" ]; do :; done`);
  const controller = new AbortController();
  const pids = createPidReader();
  const { mock: signals } = t.mock.method(process, 'kill');
  const run = runChild({ program, args: [], onOutput: pids.onOutput, signal: controller.signal });
  const rejected = assert.rejects(run, /^Error: enough$/);
  await waitUntil('the program has exited', () => signals.callCount() > 0 && pids.read().length > 0);
  controller.abort(new Error('enough'));
  await rejected;
  const [group, ...rest] = signals.calls.map(({ arguments: sent }) => sent);
  assert.ok(Number(group?.[0]) < 0);
  assert.deepEqual([group?.[1], ...rest], ['SIGKILL', [pids.read()[0], 'SIGKILL']]);
});

test('a program is ended when the reader of its output returns false', async () => {
  let pieces = 0;
  const onOutput = (): boolean => {
    pieces += 1;
    return false;
  };
  const end = await runChild({ program: '/usr/bin/yes', args: [], onOutput, signal });
  assert.deepEqual([pieces, end.exitCode], [1, null]);
});

test('the output of a program is read to its end, and only as fast as its reader accepts it', async (t) => {
  const program = writeProgram(t, 'much', 'head -c 1000000 /dev/zero');
  let bytes = 0;
  let taking = 0;
  const onOutput = async (piece: Buffer): Promise<boolean> => {
    taking += 1;
    assert.equal(taking, 1);
    await setImmediate();
    bytes += piece.length;
    taking -= 1;
    return true;
  };
  assert.equal((await runChild({ program, args: [], onOutput, signal })).exitCode, 0);
  assert.equal(bytes, 1_000_000);
});

test("an error of the output's reader rejects the run", async () => {
  const onOutput = (): boolean => {
    throw new Error('unreadable');
  };
  const later = async (): Promise<boolean> => onOutput();
  for (const each of [onOutput, later]) {
    const run = runChild({ program: '/usr/bin/yes', args: [], onOutput: each, signal });
    await assert.rejects(run, /^Error: unreadable$/);
  }
});

test('a program that cannot be started, or a signal that is already aborted, rejects the run', async () => {
  const request = { program: '/nonexistent/program', args: [], onOutput: ignore };
  await assert.rejects(runChild({ ...request, signal }), { code: 'ENOENT' });
  await assert.rejects(runChild({ ...request, signal: AbortSignal.abort(new Error('late')) }), /^Error: late$/);
});

test('a child that cannot start because descriptors are exhausted is an error, and the server keeps running', () => {
  const code = `
    import { openSync } from 'node:fs';
    import { runChild } from '${import.meta.url.replace('child.test', 'child')}';
    try { for (;;) openSync('/dev/null'); } catch {}
    const { signal } = new AbortController();
    const run = runChild({ program: '/bin/true', args: [], onOutput: () => true, signal });
    run.catch(({ code }) => setImmediate(() => process.stdout.write(code)));`;
  const args = ['-c', 'ulimit -n 64; exec "$@"', 'sh', process.execPath, ...loader, '--input-type=module', '-e', code];
  assert.equal(execFileSync('/bin/sh', args, { encoding: 'utf8', env: { NODE_V8_COVERAGE: '' } }), 'EMFILE');
});
