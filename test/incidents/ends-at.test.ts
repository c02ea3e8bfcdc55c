import assert from 'node:assert/strict';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { findMissing, findPort, startPeer } from '../lab/peers/peer.ts';
import { startApp } from '../support/app.ts';
import { writeConfig } from '../support/config-file.ts';
import { createFolder } from '../support/folder.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';
import { type Asked, listEvents, listIncidents, readIncident, waitForIncident } from './support/incidents.ts';

const labels = { alertname: 'HostDown', severity: 'critical', instance: 'web-1' };
const startsAt = '2026-01-31T08:30:00Z';

/** Sends an alert as Prometheus does. The alert ends after a number of milliseconds. */
const push = async (app: Asked, endsInMs?: number, changes: object = {}): Promise<void> => {
  const endsAt = endsInMs === undefined ? {} : { endsAt: new Date(Date.now() + endsInMs).toISOString() };
  const body = [{ labels, annotations: { summary: 'web-1 is down' }, startsAt, ...endsAt, ...changes }];
  assert.equal((await app.request('POST', '/api/v2/alerts', { body })).status, 200);
};

const open = { number: 1, state: 'open', title: 'web-1 is down' } as const;
const ended = { ...open, state: 'resolved', resolvedReason: 'quiet', resolvedBy: null } as const;

const countAlerts = async ({ request }: Asked): Promise<number> => {
  const { json } = await request<{ count: number }>('GET', '/api/alerts/search?limit=100');
  return json.count;
};

test('an alert of Prometheus is resolved after its end, unless Prometheus repeats the alert', async (t) => {
  const app = await startApp(t);
  await push(app, 1000);
  const firstEnd = Date.now() + 1000;
  await waitForIncident(app, open);
  await push(app, 3000);
  await waitUntil('the first end has passed', () => Date.now() > firstEnd + 500);
  await waitForIncident(app, open);
  await waitForIncident(app, ended);
  const { lastAlert } = await readIncident(app, 1);
  assert.deepEqual([lastAlert?.['status'], lastAlert?.['message']], ['resolved', 'Resolved: web-1 is down']);
  // The repeat is not stored.
  assert.equal(await countAlerts(app), 2);
});

test('an alert of Prometheus without an end is resolved after resolveTimeout, and a native alert is not', async (t) => {
  const app = await startApp(t, { settings: { resolveTimeout: 1 } });
  const body = { key: 'backup', level: 'ERROR', message: 'the backup has failed' };
  assert.equal((await app.request('POST', '/api/alert', { body })).status, 200);
  await push(app);
  await waitForIncident(app, { ...ended, number: 2 }, '?state=resolved');
  await waitForIncident(app, { state: 'open', title: 'the backup has failed' }, '');
});

test('an alert of a webhook of Alertmanager that is still firing stays open after its end', async (t) => {
  const app = await startApp(t);
  const alert = { status: 'firing', labels, annotations: { summary: 'web-1 is down' }, startsAt, endsAt: startsAt };
  const body = { status: 'firing', alerts: [{ ...alert, fingerprint: 'web-1' }] };
  assert.equal((await app.request('POST', '/api/alert/alertmanager', { body })).status, 200);
  // The second alert is resolved, so the server has checked the ends of alerts.
  await push(app, 500, { labels: { ...labels, instance: 'web-2' }, annotations: { summary: 'web-2 is down' } });
  await waitForIncident(app, { ...ended, number: 2, title: 'web-2 is down' }, '?state=resolved');
  await waitForIncident(app, open, '?state=open');
});

test('an alert that fires again after its end reopens its incident, and an alert with a past end resolves the incident', async (t) => {
  const app = await startApp(t);
  await push(app, 500);
  await waitForIncident(app, ended);
  await push(app, 60_000);
  await waitForIncident(app, { ...open, reopened: 1 });
  await push(app, 0, { endsAt: new Date(Date.now() - 1000).toISOString() });
  await waitForIncident(app, { state: 'resolved', resolvedReason: 'sender' });
  assert.deepEqual(await listEvents(app, 1), ['opened', 'resolved', 'reopened', 'resolved']);
});

test('after kill -9 an alert stays open for a while, and is then resolved', async (t) => {
  const cwd = createFolder(t);
  const config = [
    '--config',
    writeConfig(cwd, { dataDir: join(cwd, 'data'), resolveTimeout: 3, defaultWatches: false }),
  ];
  const first = await startProgram(t, config, { cwd });
  await push(first, 2000);
  await waitForIncident(first, open);
  await first.stop('SIGKILL');
  // The end of the alert passes while no server runs.
  await setTimeout(2500);
  const second = await startProgram(t, config, { cwd });
  await waitForIncident(second, open);
  await waitForIncident(second, ended);
});

test('after a graceful stop the next start knows repeats that are not stored', async (t) => {
  const cwd = createFolder(t);
  const config = [
    '--config',
    writeConfig(cwd, { dataDir: join(cwd, 'data'), resolveTimeout: 1, defaultWatches: false }),
  ];
  const first = await startProgram(t, config, { cwd });
  await push(first, 1000);
  await push(first, 60_000);
  await waitForIncident(first, open);
  assert.equal((await first.stop('SIGTERM')).code, 0);
  const second = await startProgram(t, config, { cwd });
  await setTimeout(3000);
  await waitForIncident(second, open);
});

test('repeats keep a watch for missing alerts up, also after kill -9, and are not stored', async (t) => {
  const cwd = createFolder(t);
  const watchdog = { name: 'watchdog', type: 'alert', source: 'prometheus/Watchdog', limit: 0.05, every: 5 };
  const config = [
    '--config',
    writeConfig(cwd, { dataDir: join(cwd, 'data'), defaultWatches: false, watches: [watchdog] }),
  ];
  const beat = (app: Asked) => push(app, 600_000, { labels: { alertname: 'Watchdog', severity: 'none' } });
  const first = await startProgram(t, config, { cwd });
  const measure = async (): Promise<number> => {
    const folder = join(cwd, 'data');
    const files = (await readdir(folder)).filter((name) => name.startsWith('alerts') && name.endsWith('.jsonl'));
    return Promise.all(files.map(async (name) => (await stat(join(folder, name))).size)).then((sizes) =>
      sizes.reduce((sum, size) => sum + size, 0),
    );
  };
  await beat(first);
  const bytes = await measure();
  for (const until = Date.now() + 8000; Date.now() < until; await setTimeout(500)) await beat(first);
  assert.equal(await measure(), bytes);
  assert.deepEqual(
    (await listIncidents(first, '?q=watchdog')).data.filter(({ source }) => source.startsWith('watch/')),
    [],
  );
  await first.stop('SIGKILL');
  await setTimeout(4000);
  const second = await startProgram(t, config, { cwd });
  await beat(second);
  await setTimeout(2000);
  assert.deepEqual(
    (await listIncidents(second)).data.filter(({ source }) => source.startsWith('watch/')),
    [],
  );
  await waitUntil('the watch is down', async () =>
    (await listIncidents(second)).data.some(({ source }) => source === 'watch/watchdog'),
  );
});

test('one of two instances resolves an alert, after the last repeat that either instance has received', {
  skip: toSkipPostgres(),
}, async (t) => {
  const store = await createDatabase(t);
  const start = () => startApp(t, { settings: { store, timeZone: 'UTC' } });
  const [one, other] = [await start(), await start()];
  await push(one, 3000);
  await push(other, 10_000);
  await waitForIncident(other, open);
  await setTimeout(7000);
  await waitForIncident(one, open);
  await waitUntil('the alert is resolved', async () => (await readIncident(one, 1)).state === 'resolved', 45_000);
  assert.equal((await readIncident(other, 1)).resolvedReason, 'quiet');
  assert.equal(await countAlerts(other), 2);
});

/**
 * Starts a Prometheus with a rule that always fires. Prometheus repeats the alert of the rule every second, each time
 * with an end in four seconds.
 */
const startFiring = async (t: TestContext, target: string) => {
  const folder = createFolder(t);
  const address = `127.0.0.1:${await findPort()}`;
  const rule = { alert: 'HostDown', expr: 'vector(1)', labels: { severity: 'critical' } };
  await writeFile(join(folder, 'rules.json'), JSON.stringify({ groups: [{ name: 'test', rules: [rule] }] }));
  const config = {
    global: { evaluation_interval: '1s' },
    rule_files: ['rules.json'],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [new URL(target).host] }] }] },
  };
  const file = join(folder, 'prometheus.json');
  await writeFile(file, JSON.stringify(config));
  const args = [`--config.file=${file}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=${address}`];
  return startPeer(t, 'prometheus', ['--rules.alert.resend-delay=1s', ...args], `http://${address}/-/ready`);
};

test('the alert of a stopped Prometheus is resolved, and fires again after the next start of Prometheus', {
  skip: findMissing('prometheus'),
}, async (t) => {
  const app = await startApp(t);
  const first = await startFiring(t, app.url);
  await waitUntil('the alert has an incident', async () => (await listIncidents(app)).data.length === 1);
  await setTimeout(6000);
  assert.equal((await readIncident(app, 1)).state, 'open');
  await first.stop();
  await waitUntil('the alert is resolved', async () => (await readIncident(app, 1)).state === 'resolved');
  assert.equal((await readIncident(app, 1)).resolvedReason, 'quiet');
  await startFiring(t, app.url);
  await waitUntil('the alert fires again', async () => (await listIncidents(app)).data.length === 1);
});
