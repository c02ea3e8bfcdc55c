import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statfsSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Watch } from '../../src/features/watches/schema.ts';
import { waitForIncident } from '../incidents/support/incidents.ts';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { atEnd } from '../support/scope.ts';
import { mountSmall } from './support/small-disk.ts';
import { createWatch, readWatch, tryWatch, waitForAlerts, waitForState } from './support/watches.ts';

test('a file system that fills up raises an alert, a second alert when it is full, and a resolution when there is space again', async (t) => {
  const mount = mountSmall(t, 8);
  if (mount === undefined) return t.skip('mounting a file system needs root');
  const app = await startApp(t);
  const token = await app.login('admin');
  const fill = (mebibytes: number): void => writeFileSync(join(mount, 'file'), Buffer.alloc(mebibytes * 1024 * 1024));
  await createWatch(app, token, {
    name: 'small',
    type: 'disk',
    mounts: [mount],
    limit: 50,
    critical: 80,
    every: 1,
    message: 'Delete dumps',
  });
  await waitForState(app, token, 'small', 'ok');
  fill(4);
  const [raised] = await waitForAlerts(app, 1);
  assert.match(
    raised?.message ?? '',
    new RegExp(`^${mount} is \\d\\d(\\.\\d)? % full \\(\\d\\.\\d MiB free\\), limit 50 %$`),
  );
  assert.deepEqual(
    [raised?.source, raised?.level, raised?.status, raised?.details, raised?.labels],
    ['watch/small', 'WARNING', 'firing', 'Delete dumps', { watch: 'small', type: 'disk', thing: mount }],
  );
  const incident = await waitForIncident(app, { state: 'open' });
  assert.equal(incident.title, raised?.message);
  fill(6);
  const [, worse] = await waitForAlerts(app, 2);
  assert.deepEqual([worse?.level, worse?.fingerprint], ['CRITICAL', raised?.fingerprint]);
  assert.match(worse?.message ?? '', /, limit 80 %$/);
  assert.equal((await readWatch(app, token, 'small')).things[0]?.level, 'CRITICAL');
  rmSync(join(mount, 'file'));
  const [, , ended] = await waitForAlerts(app, 3);
  assert.deepEqual([ended?.level, ended?.status, ended?.resolves], ['INFO', 'resolved', worse?.id]);
  await waitForIncident(app, { state: 'resolved' });
});

test('a file system with several mounts is found at each mount', async (t) => {
  const mount = mountSmall(t, 1);
  if (mount === undefined) return t.skip('mounting a file system needs root');
  const again = `${mount}-again`;
  mkdirSync(again);
  execFileSync('mount', ['--bind', mount, again]);
  atEnd(t, () => execFileSync('umount', ['-l', again]));
  const app = await startApp(t);
  const found = await tryWatch(app, await app.login('admin'), { type: 'disk', mounts: [again, mount], limit: 100 });
  assert.deepEqual(
    found.map(({ thing, state }) => [thing, state]),
    [
      [mount, 'ok'],
      [again, 'ok'],
    ],
  );
});

test('a watch of a missing thing cannot check, and raises an alert after `for`', async (t) => {
  const folder = createFolder(t);
  const missing = [
    [{ type: 'disk', mounts: ['/no/such'], limit: 90 }, 'no file system is mounted at /no/such'],
    [{ type: 'file', path: join(folder, 'none', '*.tar') }, `${folder}/none cannot be read \\(ENOENT\\)`],
    [{ type: 'certificate', path: join(folder, 'none.pem') }, `${folder}/none.pem cannot be read \\(ENOENT\\)`],
    [{ type: 'temperature', sensor: 'no such', limit: 90 }, 'there is no temperature sensor no such'],
    [{ type: 'http', url: 'http://no-such.invalid/' }, hostUnknown],
    [{ type: 'tcp', host: 'no-such.invalid', port: 1 }, hostUnknown],
    [{ type: 'certificate', host: 'no-such.invalid' }, hostUnknown],
  ] as const;
  const watches = missing.map(([watch], index) => ({ name: `gone-${index}`, ...watch, every: 1, for: 2 }));
  const app = await startApp(t, { settings: { watches } });
  const token = await app.login('admin');
  for (const { name } of watches) await waitForState(app, token, name, 'cannot check');
  assert.deepEqual(await waitForAlerts(app, 0), []);
  const alerts = await waitForAlerts(app, watches.length);
  for (const [index, [, reason]] of missing.entries()) {
    const alert = alerts.find(({ source }) => source === `watch/gone-${index}`);
    assert.match(alert?.message ?? '', new RegExp(`^Watch gone-${index} cannot run its check: ${reason}$`));
    assert.deepEqual([alert?.level, alert?.status], ['WARNING', 'firing']);
  }
});

/** Reason for an unknown host name, with a name server and without one. */
const hostUnknown =
  'the (host name no-such.invalid is unknown|name server does not respond to the lookup of no-such.invalid)';

test('deleting a watch resolves its alerts', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await createWatch(app, token, { name: 'gone', type: 'disk', mounts: ['/no/such'], limit: 90, every: 1 });
  const [alert] = await waitForAlerts(app, 1);
  assert.equal((await app.request('DELETE', '/api/watches/gone', { token })).status, 200);
  const [, ended] = await waitForAlerts(app, 2);
  assert.deepEqual([ended?.message, ended?.resolves], ['Resolved: gone is no longer watched', alert?.id]);
});

test('a journal watch fires if the disk of the data directory is nearly full', async (t) => {
  const mount = mountSmall(t, 64);
  if (mount === undefined) return t.skip('mounting a file system needs root');
  const watches = [{ name: 'log', type: 'journal', every: 1 }];
  const app = await startApp(t, { settings: { dataDir: join(mount, 'data'), watches } });
  const token = await app.login('admin');
  await waitForState(app, token, 'log', 'ok');
  const { bsize, bavail } = statfsSync(mount);
  writeFileSync(join(mount, 'file'), Buffer.alloc(bsize * bavail - 8 * 1024 * 1024));
  const [raised] = await waitForAlerts(app, 1);
  assert.match(raised?.message ?? '', /^The disk of the data directory is 8\d(\.\d)? % full \([78]\.\d MiB free\)$/);
  rmSync(join(mount, 'file'));
  const [, ended] = await waitForAlerts(app, 2);
  assert.equal(ended?.resolves, raised?.id);
});

test('runtime watches are created, replaced and deleted by version, and watches of the config file cannot be changed', async (t) => {
  const config = { name: 'ours', type: 'memory', limit: 100, enabled: false };
  const app = await startApp(t, { settings: { watches: [config], defaultWatches: true } });
  const token = await app.login('admin');
  const cpu = { name: 'cpu', type: 'cpu', limit: 101 };
  const created = await createWatch(app, token, cpu);
  const put = (name: string, body: object, headers = {}) =>
    app.request<Watch>('PUT', `/api/watches/${name}`, { token, body, headers });
  assert.deepEqual([created.origin, created.settings, created.updatedBy], ['made', cpu, 'admin']);
  assert.equal((await app.request('POST', '/api/watches', { token, body: cpu })).status, 409);
  assert.equal((await put('cpu', { ...cpu, limit: 102 }, { 'if-match': '"999"' })).status, 412);
  const changed = await put('cpu', { ...cpu, limit: 102 }, { 'if-match': `"${created.version}"` });
  assert.deepEqual([changed.status, changed.json.settings.limit], [200, 102]);
  assert.equal((await put('cpu', { ...cpu, name: 'other' })).status, 400);
  assert.equal((await put('ours', config)).status, 409);
  assert.equal((await app.request('DELETE', '/api/watches/disk', { token })).status, 409);
  assert.equal((await app.request('DELETE', '/api/watches/none', { token })).status, 404);
  // A watch with the name of a default watch replaces it.
  const disk = await createWatch(app, token, { name: 'disk', type: 'disk', limit: 99.9 });
  assert.equal(disk.origin, 'made');
  const { json } = await app.request<{ data: Watch[] }>('GET', '/api/watches', { token });
  assert.deepEqual(
    json.data.map(({ name, origin }) => `${name} ${origin}`),
    [
      'ours config',
      'cpu made',
      'disk made',
      'inodes default',
      'memory default',
      // If systemd is running, units are watched by default.
      ...(existsSync('/run/systemd/system') ? ['units default'] : []),
      'journal default',
      'checks default',
    ],
  );
  assert.equal(json.data[0]?.state, 'paused');
  assert.equal((await app.request('GET', '/api/watches', { token: await app.login('reader') })).status, 200);
});

test('unknown and missing settings of a type are refused with advice', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const refuse = async (body: object): Promise<unknown> => {
    const { status, json } = await app.request('POST', '/api/watches', { token, body: { name: 'a', ...body } });
    assert.equal(status, 400, JSON.stringify(json));
    return json['error'];
  };
  assert.equal(await refuse({ type: 'disk' }), 'type disk needs limit');
  assert.equal(await refuse({ type: 'disk', limit: 90, url: 'http://a/' }), 'type disk has no setting url');
  assert.equal(await refuse({ type: 'disk', limit: 90, critical: 80 }), 'critical must be higher than limit');
  assert.equal(
    await refuse({ type: 'disk', metric: 'free', limit: 9, clear: 8 }),
    'clear must not be lower than limit',
  );
  assert.equal(await refuse({ type: 'http' }), 'type http needs url');
  assert.equal(await refuse({ type: 'http', url: 'ftp://a/' }), 'url must be an http or https URL');
  assert.equal(await refuse({ type: 'http', url: 'http://u:p@a/' }), 'url must not have a user or password');
  assert.equal(
    await refuse({ type: 'http', url: 'http://a/', status: '2xx' }),
    'status must list codes or ranges, such as 200-299,401',
  );
  assert.equal(await refuse({ type: 'service' }), 'set units or failed');
  assert.equal(await refuse({ type: 'process', process: 'a', min: 3, max: 2 }), 'max must be at least min');
  assert.match(String(await refuse({ type: 'file', path: '/etc/passwd' })), /only in the config file/);
  assert.match(String(await refuse({ type: 'certificate', path: '/etc/a.pem' })), /only in the config file/);
  assert.match(String(await refuse({ type: 'nothing' })), /type/);
  assert.match(String(await refuse({ type: 'memory', limit: 1, name: '../a' })), /name/);
});

test('readings of this machine have a figure and a text', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const read = async (body: object) => {
    const [thing] = await tryWatch(app, token, body);
    return [thing?.state, thing?.text] as [string, string];
  };
  const [state, text] = await read({ type: 'memory', limit: 0.001 });
  assert.equal(state, 'pending');
  assert.match(text, /^\d+(\.\d)? % of the memory is in use \([\d.]+ .iB available\)$/);
  assert.match((await read({ type: 'disk', mounts: ['/'], limit: 100 }))[1], /^\/ is \d+(\.\d)? % full/);
  assert.match((await read({ type: 'disk', mounts: ['/'], metric: 'free', limit: 1 }))[1], /^\/ has .* free$/);
  assert.equal((await read({ type: 'process', process: 'no such program' }))[0], 'pending');
  assert.match((await read({ type: 'process', process: 'node*', metric: 'memory', limit: 1 }))[1], /^\d+ process/);
});

test('a file watch requires a file that exists, and is recent and large enough', async (t) => {
  const folder = createFolder(t);
  const watch = { name: 'backup', type: 'file', path: join(folder, '*.tar'), maxAgeHours: 26, minBytes: 10, every: 1 };
  const app = await startApp(t, { settings: { watches: [watch] } });
  const token = await app.login('admin');
  const [missing] = await waitForAlerts(app, 1);
  assert.equal(missing?.message, `There is no file ${folder}/*.tar`);
  writeFileSync(join(folder, 'a.tar'), 'more than ten');
  await waitForAlerts(app, 2);
  writeFileSync(join(folder, 'a.tar'), 'short');
  const old = new Date(Date.now() - 30 * 3_600_000);
  utimesSync(join(folder, 'a.tar'), old, old);
  const [, , bad] = await waitForAlerts(app, 3);
  assert.match(bad?.message ?? '', /a\.tar is 30\.0 h old \(limit 26 h\) and has 5 B \(expected: at least 10 B\)$/);
  assert.equal((await readWatch(app, token, 'backup')).state, 'firing');
});

test('an alert watch fires when a source is silent or sends too many alerts', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const silence = { type: 'alert', source: 'backup*', limit: 5 };
  const flood = { type: 'alert', source: 'backup*', metric: 'count', limit: 2 };
  assert.equal((await tryWatch(app, token, silence))[0]?.text, 'no alert from backup* for more than 5 min');
  for (const message of ['a', 'b']) {
    await app.request('POST', '/api/alert', { body: { source: 'backup-1', level: 'INFO', message } });
  }
  const [quiet] = await tryWatch(app, token, silence);
  assert.deepEqual([quiet?.state, quiet?.text], ['ok', 'the last alert from backup* was 0 min ago']);
  const [many] = await tryWatch(app, token, flood);
  assert.deepEqual([many?.state, many?.text], ['ok', '2 alerts from backup* within 60 min']);
  await app.request('POST', '/api/alert', { body: { source: 'backup-2', level: 'INFO', message: 'c' } });
  assert.equal((await tryWatch(app, token, flood))[0]?.state, 'pending');
  const { status, json } = await app.request('POST', '/api/watches/test', {
    token,
    body: { ...flood, name: 'flood', limit: 10_000 },
  });
  assert.deepEqual(
    [status, json],
    [400, { error: 'limit must be below 10000, the maximum number of alerts that are counted' }],
  );
});

test('a watch shows the readings of its things in the last hours', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await createWatch(app, token, { name: 'memory', type: 'memory', limit: 0.0001, every: 1 });
  await createWatch(app, token, { name: 'log', type: 'journal', every: 1 });
  await waitForState(app, token, 'memory', 'firing');
  await waitForState(app, token, 'log', 'ok');
  const readRecent = async (name: string) => (await readWatch(app, token, name)).things[0]?.recent;
  const recent = await readRecent('memory');
  assert.ok(recent && recent.step === 15);
  assert.deepEqual([recent.figures.length, recent.bad.at(-1)], [recent.bad.length, true]);
  for (const figure of recent.figures) assert.ok(typeof figure === 'number' && figure > 0 && figure < 100);
  const age = Date.now() - Date.parse(recent.start);
  assert.ok(age > 0 && age < 45_000, String(age));
  // A yes-or-no check has no figure.
  const log = await readRecent('log');
  assert.deepEqual([log?.figures.at(-1), log?.bad.at(-1)], [null, false]);
  // Changing a limit does not change earlier readings.
  const body = { name: 'memory', type: 'memory', limit: 100, every: 1 };
  assert.equal((await app.request('PUT', '/api/watches/memory', { token, body })).status, 200);
  await waitForState(app, token, 'memory', 'ok');
  // The start is converted from a monotonic clock and rounded to milliseconds.
  const moved = Date.parse((await readRecent('memory'))?.start ?? '') - Date.parse(recent.start);
  assert.ok(Math.abs(moved) < 1000, String(moved));
  const [trial] = await tryWatch(app, token, { type: 'memory', limit: 100 });
  assert.equal(trial?.recent, null);
});

test('a network watch measures the bytes per second of one direction', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await createWatch(app, token, { name: 'in', type: 'network', limit: 0 });
  await waitForState(app, token, 'in', 'firing');
  const { things } = await readWatch(app, token, 'in');
  assert.match(things[0]?.text ?? '', /^the network received \d.* [KMG]?i?B\/s$/);
  const [sent] = await tryWatch(app, token, { type: 'network', metric: 'sent', limit: 1e12 });
  assert.deepEqual([sent?.thing, sent?.state], ['sent', 'ok']);
  const { json } = await app.request('POST', '/api/watches/test', {
    token,
    body: { name: 'in', type: 'network', metric: 'used', limit: 1 },
  });
  assert.equal(json['error'], 'metric must be received or sent');
});
