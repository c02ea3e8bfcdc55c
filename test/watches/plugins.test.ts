import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { requires } from '../lab/faults/support/requirements.ts';
import { startApp } from '../support/app.ts';
import { isRunning, writeProgram } from '../support/child-programs.ts';
import { end, header } from '../support/export-lines.ts';
import { createFolder } from '../support/folder.ts';
import { createFiles, importInto } from '../support/transfer.ts';
import { waitUntil, waitUntilPasses } from '../support/wait.ts';
import { readWatch, tryWatch, waitForAlerts, waitForState } from './support/watches.ts';

const plugins = '/usr/lib/nagios/plugins';
const installed = existsSync(plugins) ? {} : requires({ programs: ['monitoring-plugins-basic'] });

/** Returns a plugin watch for each program, whose failures do not fire during a test. */
const toWatches = (programs: Record<string, string>) =>
  Object.entries(programs).map(([name, program]) => ({ name, type: 'plugin', command: [program], for: 3600 }));

test("Debian's plugins are run, with their level and performance values", installed, async (t) => {
  const plugin = (name: string, ...command: string[]) => ({
    name,
    type: 'plugin',
    command: [join(plugins, command[0] ?? ''), ...command.slice(1)],
    every: 1,
  });
  const watches = [
    plugin('load', 'check_load', '-w', '9999,9999,9999', '-c', '9999,9999,9999'),
    plugin('warning', 'check_dummy', '1', 'a bit'),
    plugin('critical', 'check_dummy', '2', 'a lot; $(id) | wc'),
    plugin('unknown', 'check_dummy', '3', 'who knows'),
  ];
  const app = await startApp(t, { settings: { watches } });
  const token = await app.login('admin');
  const alerts = await waitForAlerts(app, 3);
  assert.deepEqual(alerts.map(({ source, level, message }) => [source, level, message]).sort(), [
    ['watch/critical', 'CRITICAL', 'CRITICAL: a lot; $(id)'],
    ['watch/unknown', 'WARNING', 'Watch unknown cannot run its check: UNKNOWN: who knows'],
    ['watch/warning', 'WARNING', 'WARNING: a bit'],
  ]);
  await waitForState(app, token, 'load', 'ok');
  const { things, settings } = await readWatch(app, token, 'load');
  assert.deepEqual(
    things.map(({ thing }) => thing),
    ['check_load', 'load1', 'load5', 'load15'],
  );
  assert.match(things[0]?.text ?? '', /^LOAD OK - /);
  assert.equal(things[1]?.text, `load1 is ${things[1]?.figure?.toFixed(3)}`);
  assert.equal((await tryWatch(app, token, settings))[0]?.state, 'ok');
});

test('a plugin that worsens and eases changes its level', async (t) => {
  const file = join(createFolder(t), 'code');
  writeFileSync(file, '1');
  const program = writeProgram(t, 'check_file', `read code < ${file}; echo "code $code"; exit $code`);
  const watches = [{ name: 'file', type: 'plugin', command: [program], level: 'ERROR', every: 1 }];
  const app = await startApp(t, { settings: { watches } });
  const levels = async (count: number) => (await waitForAlerts(app, count)).map(({ level }) => level);
  assert.deepEqual(await levels(1), ['ERROR']);
  for (const [code, level] of [
    ['2', 'CRITICAL'],
    ['1', 'ERROR'],
    ['0', 'INFO'],
  ] as const) {
    writeFileSync(file, code);
    await waitUntilPasses(async () => assert.equal((await levels(['2', '1', '0'].indexOf(code) + 2)).at(-1), level));
  }
});

test('plugins that never end, fork, print too much or are missing are unknown, and leave no process', async (t) => {
  const folder = createFolder(t);
  const pids = join(folder, 'pids');
  const programs = {
    endless: writeProgram(t, 'endless', `echo $$ >> ${pids}; trap '' TERM; while :; do sleep 1; done`),
    forking: writeProgram(t, 'forking', `for i in 1 2 3; do sleep 600 & echo $! >> ${pids}; done; echo forked; exit 0`),
    printing: writeProgram(t, 'printing', `echo $$ >> ${pids}; head -c 100000000 /dev/zero; exec sleep 600`),
    missing: join(folder, 'none'),
    unreadable: folder,
    killed: writeProgram(t, 'killed', 'echo half; kill -9 $$'),
    odd: writeProgram(t, 'odd', 'echo odd >&2; exit 77'),
    silent: writeProgram(t, 'silent', 'exit 1'),
  };
  const app = await startApp(t, { settings: { watches: toWatches(programs) } });
  const token = await app.login('admin');
  const textOf = async (name: string) => (await readWatch(app, token, name)).things[0]?.text;
  for (const name of ['missing', 'unreadable', 'killed', 'odd', 'printing', 'endless'])
    await waitForState(app, token, name, 'cannot check');
  assert.equal(await textOf('missing'), `${programs.missing} cannot be started (ENOENT)`);
  assert.equal(await textOf('unreadable'), `${folder} cannot be started (EACCES)`);
  assert.equal(await textOf('killed'), 'half (terminated by a signal)');
  assert.equal(await textOf('odd'), 'odd (exit code 77)');
  assert.equal(await textOf('printing'), `${programs.printing} printed more than 64 KiB`);
  assert.equal(await textOf('endless'), `${programs.endless} did not end in time`);
  await waitForState(app, token, 'silent', 'pending');
  assert.equal(await textOf('silent'), 'silent printed nothing');
  await waitForState(app, token, 'forking', 'ok');
  assert.equal(await textOf('forking'), 'forked');
  const all = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
  assert.ok(all.length >= 5, String(all));
  await waitUntil('all processes have ended', () => !all.some(isRunning));
  rmSync(pids);
});

test('processes that leave the group of a plugin end with it', async (t) => {
  const pids = join(createFolder(t), 'pids');
  const note = `echo $! >> ${pids}`;
  const twice = `python3 - <<'END'
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open('${pids}', 'a').write(f'{os.getpid()}\\n')
        time.sleep(1000)
    os._exit(0)
time.sleep(1000)
END`;
  const programs = {
    session: writeProgram(t, 'session', `setsid sleep 1000 & ${note}; sleep 1000`),
    twice: writeProgram(t, 'twice', twice),
    silent: writeProgram(t, 'silent', `setsid sleep 1000 > /dev/null 2>&1 & ${note}; sleep 1000`),
    printing: writeProgram(t, 'printing', `setsid sleep 1000 & ${note}; head -c 100000000 /dev/zero`),
    exited: writeProgram(t, 'exited', `setsid sleep 1000 & ${note}; echo exited`),
  };
  const app = await startApp(t, { settings: { watches: toWatches(programs) } });
  const token = await app.login('admin');
  const textOf = async (name: string) => (await readWatch(app, token, name)).things[0]?.text;
  for (const name of ['session', 'twice', 'silent', 'printing']) await waitForState(app, token, name, 'cannot check');
  await waitForState(app, token, 'exited', 'ok');
  for (const name of ['session', 'twice', 'silent'] as const)
    assert.equal(await textOf(name), `${programs[name]} did not end in time`);
  assert.equal(await textOf('printing'), `${programs.printing} printed more than 64 KiB`);
  assert.equal(await textOf('exited'), 'exited');
  const all = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
  assert.equal(all.length, 5);
  t.after(() => {
    for (const pid of all.filter(isRunning)) process.kill(pid, 'SIGKILL');
  });
  await waitUntil('all processes have ended', () => !all.some(isRunning));
});

test('a plugin or a file in an import is not watched', async (t) => {
  const watches = [
    { name: 'x', type: 'plugin', command: [`${plugins}/check_dummy`, '0'] },
    { name: 'y', type: 'file', path: '/etc/passwd' },
    { name: 'z', type: 'memory', limit: 90 },
  ];
  const lines = watches.map((value, index) => {
    const id = `019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c5${index}`;
    const change = { id, kind: 'watch', name: value.name, value, by: 'eve', at: 1, version: index + 1, createdAt: 1 };
    return JSON.stringify({ settings: change });
  });
  const place = createFiles(t);
  await importInto(place, [header, ...lines, end, ''].join('\n'));
  const app = await startApp(t, { settings: place.settings });
  const token = await app.login('admin');
  const { json } = await app.request<{ data: { name: string }[] }>('GET', '/api/watches', { token });
  const names = json.data.map(({ name }) => name).filter((name) => /^[xyz]$/.test(name));
  assert.deepEqual(names, ['z']);
});

test('plugins can be defined only in the config file', async (t) => {
  const hub = await startApp(t);
  const token = await hub.login('admin');
  const command = [`${plugins}/check_dummy`, '0'];
  for (const settings of [{}, { hosts: ['web'] }]) {
    const body = { name: 'x', type: 'plugin', command, ...settings };
    for (const [method, path] of [
      ['POST', '/api/watches'],
      ['POST', '/api/watches/test'],
    ] as const) {
      const { status, json } = await hub.request<{ error: string }>(method, path, { token, body });
      assert.equal(status, 400);
      assert.match(json.error, /config file/);
    }
  }
  await hub.request('POST', '/api/watches', { token, body: { name: 'x', type: 'memory', limit: 90 } });
  const put = await hub.request('PUT', '/api/watches/x', { token, body: { name: 'x', type: 'plugin', command } });
  assert.equal(put.status, 400);
  for (const [bad, reason] of [
    [['check_dummy'], /command must begin with an absolute path/],
    [command, /files and programs on a host can be watched only in the config file of that host/],
  ] as const) {
    const watches = [{ name: 'x', type: 'plugin', command: bad, ...(bad === command && { hosts: ['web'] }) }];
    await assert.rejects(startApp(t, { settings: { watches } }), reason);
  }
});
