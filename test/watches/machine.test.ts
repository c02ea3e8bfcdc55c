import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { atEnd, type Scope } from '../support/scope.ts';
import { createWatch, readWatch, tryWatch, waitForAlerts, waitForState } from './support/watches.ts';

const MiB = 1024 * 1024;

/** Limits the memory of a process. Returns undefined if control groups cannot be created. */
const limitMemory = (t: Scope, pid: number, bytes: number): true | undefined => {
  const hierarchies = [
    ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes'],
    ['/sys/fs/cgroup', 'memory.max'],
  ] as const;
  const [root, file] =
    hierarchies.find(([folder, name]) => existsSync(join(folder, name)) || name === 'memory.max') ?? [];
  const folder = join(String(root), `signalbox-test-${process.pid}`);
  try {
    if (file === 'memory.max') writeFileSync(`${root}/cgroup.subtree_control`, '+memory');
    mkdirSync(folder);
    atEnd(t, () => rmdirSync(folder));
    writeFileSync(join(folder, String(file)), String(bytes));
    writeFileSync(join(folder, 'cgroup.procs'), String(pid));
    return true;
  } catch {
    return undefined;
  }
};

/** Starts a process with the given name that keeps all its input in memory. */
const startGlutton = (t: Scope, name: string): ChildProcess & { eat(bytes: number): void } => {
  const program = join(createFolder(t), name);
  symlinkSync('/usr/bin/tail', program);
  const child = spawn(program, ['-n', '1'], { stdio: ['pipe', 'ignore', 'ignore'] });
  const ended = once(child, 'close');
  child.stdin?.on('error', () => undefined);
  atEnd(t, () => child.kill('SIGKILL') && ended);
  return Object.assign(child, { eat: (bytes: number) => void child.stdin?.write(Buffer.alloc(bytes)) });
};

test('a process that exceeds a limit of memory raises an alert, and another alert when the kernel kills the process', async (t) => {
  const glutton = startGlutton(t, 'glutton-27');
  if (!limitMemory(t, Number(glutton.pid), 80 * MiB)) return t.skip('control groups need root');
  const app = await startApp(t);
  const token = await app.login('admin');
  const watch = { process: 'glutton-*', metric: 'memory', limit: 30, critical: 60, every: 1 };
  await createWatch(app, token, { name: 'glutton', type: 'process', ...watch });
  await waitForState(app, token, 'glutton', 'ok');
  glutton.eat(40 * MiB);
  const [raised] = await waitForAlerts(app, 1);
  assert.match(raised?.message ?? '', /^glutton-\* uses [34]\d MiB of memory, limit 30 MiB$/);
  assert.equal(raised?.level, 'WARNING');
  glutton.eat(25 * MiB);
  const [, worse] = await waitForAlerts(app, 2);
  assert.match(worse?.message ?? '', /^glutton-\* uses 6\d MiB of memory, limit 60 MiB$/);
  assert.equal(worse?.level, 'CRITICAL');
  glutton.eat(60 * MiB);
  await once(glutton, 'exit');
  assert.equal(glutton.signalCode, 'SIGKILL');
  const [, , ...last] = await waitForAlerts(app, 4);
  const killed = last.find(({ status }) => status === 'firing');
  assert.equal(killed?.message, '0 processes named glutton-* (expected: at least 1)');
  assert.equal(last.find((one) => one !== killed)?.resolves, worse?.id);
});

test('the CPU time of a process is measured, also by a test', async (t) => {
  const program = join(createFolder(t), 'spinner-27');
  symlinkSync(process.execPath, program);
  const child = spawn(program, ['-e', 'for (;;);'], { stdio: 'ignore' });
  const ended = once(child, 'close');
  atEnd(t, () => child.kill('SIGKILL') && ended);
  const app = await startApp(t);
  const token = await app.login('admin');
  const watch = { type: 'process', process: 'spinner-27', metric: 'cpu', limit: 5 };
  const [, cpu] = await tryWatch(app, token, watch);
  assert.equal(cpu?.state, 'pending', cpu?.text);
  assert.match(cpu?.text ?? '', /^spinner-27 uses \d+(\.\d)? % of a CPU$/);
  // A shared reading that is some time old must not count as new.
  for (let round = 0; round < 4; round += 1) {
    const [, again] = await tryWatch(app, token, watch);
    assert.ok(Number(again?.figure) < 150, `${again?.text} in round ${round}`);
  }
  const [, other] = await tryWatch(app, token, { ...watch, user: 'nobody' });
  assert.equal(other, undefined);
});

test('pressure is measured if the kernel reports it, and cannot be checked otherwise', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  for (const resource of ['cpu', 'memory', 'io']) {
    const watch = { name: resource, type: 'pressure', resource, limit: 0, every: 1 };
    const isKnown = existsSync(`/proc/pressure/${resource}`);
    await createWatch(app, token, watch);
    await waitForState(app, token, resource, isKnown ? 'firing' : 'cannot check');
    const { text = '', figure = -1 } = (await readWatch(app, token, resource)).things[0] ?? {};
    if (!isKnown) assert.equal(text, 'this kernel does not report pressure (PSI)');
    else {
      assert.match(text, new RegExp(`^tasks waited for ${resource} in \\d+(\\.\\d)? % of the last minute$`));
      const [, now] = /some .*avg60=(\S+)/.exec(readFileSync(`/proc/pressure/${resource}`, 'utf8')) ?? [];
      assert.ok(Math.abs(Number(now) - Number(figure)) < 20, `${now} and ${figure}`);
    }
    await app.request('PUT', `/api/watches/${resource}`, { token, body: { ...watch, limit: 101 } });
  }
  // Each watch raised its alert, and then a limit that is never reached resolved the alert.
  const alerts = (await waitForAlerts(app, 6)).map(({ source, status }) => `${source} ${status}`);
  assert.equal(new Set(alerts).size, 6);
});

test('the temperature sensors of this machine are watched, if it has any', async (t) => {
  const app = await startApp(t);
  const found = await tryWatch(app, await app.login('admin'), { type: 'temperature', limit: -300 });
  for (const { state, text } of found) {
    if (state === 'cannot check') assert.equal(text, 'there is no temperature sensor *');
    else assert.match(text, / is at -?\d+\.\d °C$/);
  }
  assert.ok(found.length > 0);
});
