import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Value } from 'typebox/value';
import { createAccessKey } from '../../src/auth/access.ts';
import type { Incident } from '../../src/features/incidents/schema.ts';
import { MachinePicture } from '../../src/features/pictures/schema.ts';
import { listEvents, listIncidents, readIncident, waitForIncident } from '../incidents/support/incidents.ts';
import { sendAlert } from '../support/alerts.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { openEvents } from '../support/events.ts';
import { inBackground, keepRunning } from '../support/host.ts';
import { waitUntil, waitUntilPasses } from '../support/wait.ts';

const here = { source: 'demo', level: 'ERROR', message: 'the demo has failed', hostname: hostname() };

const ask = (app: TestApp, id: string | number, token?: string) =>
  app.request<MachinePicture & { error?: string }>('GET', `/api/incidents/${id}/snapshot`, { token });

const waitForPicture = async (app: TestApp, id: string | number): Promise<string> => {
  await waitUntilPasses(async () => assert.notEqual((await readIncident(app, id)).snapshot, null));
  return String((await readIncident(app, id)).snapshot);
};

/** Starts a process that keeps a processor busy, with a secret on its command line. */
const startBusy = (t: TestContext) =>
  keepRunning(t, spawn('/bin/sh', ['-c', 'while :; do :; done', '--password=hunter2'], inBackground));

test('an incident about this machine gets a picture of the machine without command lines', async (t) => {
  const app = await startApp(t);
  const token = await app.login('reader');
  const busy = await startBusy(t);
  const events = await openEvents(t, app.url, 'incidents');
  await waitUntil('the history has two values', async () => {
    const { json } = await app.request<{ count: number }>('GET', '/api/history?step=1');
    return json.count >= 2;
  });
  const sentAt = Date.now();
  await sendAlert(app, { ...here, hostname: hostname().toUpperCase() });
  const takenAt = Date.parse(await waitForPicture(app, 1));
  // Other tests slow down the machine.
  assert.ok(takenAt - sentAt < 2000, `${takenAt - sentAt}`);
  assert.deepEqual(await listEvents(app, 1), ['opened', 'snapshotTaken']);
  await waitUntil('listeners get the changed incident', () =>
    events.events().some(({ data }) => (data as Partial<Incident>).snapshot !== null && data['number'] === 1),
  );
  const { status, json, text } = await ask(app, 1, token);
  assert.equal(status, 200);
  assert.ok(Buffer.byteLength(text) <= 64 * 1024);
  assert.ok(!text.includes('hunter2') && !text.includes('while :'));
  assert.deepEqual([...Value.Errors(MachinePicture, json)], []);
  assert.ok(json.tookMs <= 1500, `${json.tookMs}`);
  assert.equal(json.hostname, hostname());
  assert.ok(json.usage.cpu !== null && json.usage.memoryTotal !== null && json.usage.load !== null);
  assert.ok((json.history?.count ?? 0) >= 1 && json.history?.step === 5);
  assert.ok(json.disks.some(({ mountPath, total }) => mountPath === '/' && total > 0));
  const [worst] = json.processes?.byCpu.filter(({ pid }) => pid === busy) ?? [];
  // Other processes also use the processors.
  assert.ok(worst?.name === 'sh' && (worst.cpu ?? 0) > 0 && (worst.cpu ?? 0) < 1.3, JSON.stringify(worst));
  // The machine can have larger processes than this one.
  const [largest] = json.processes?.byMemory ?? [];
  assert.ok(largest && largest.memoryBytes >= process.memoryUsage.rss() / 2 && largest.user);
  assert.equal(json.processes?.byCpu.length, Math.min(15, json.processes?.count ?? 0));
  // The id of the incident works as well as its number. Without an account, the response is 401.
  const { id } = await readIncident(app, 1);
  assert.equal((await ask(app, id, token)).text, text);
  assert.equal((await ask(app, 1)).status, 401);
});

test('the response names the reason for a missing picture, and an incident that gets worse gets one picture', async (t) => {
  const key = createAccessKey('board', ['incidents:read']);
  const app = await startApp(t, { settings: { keys: [key.entry] } });
  const explain = async (id: number | string) => {
    const { status, json } = await ask(app, id, key.key);
    assert.equal(status, 404);
    return json.error;
  };
  await sendAlert(app, { ...here, level: 'WARNING' });
  await waitForIncident(app, { number: 1, level: 'WARNING', snapshot: null });
  assert.equal(await explain(1), 'Incident #1 has no picture: the incident was never of level ERROR or CRITICAL');
  await sendAlert(app, { ...here, source: 'other', hostname: 'db-9' });
  await waitUntilPasses(async () => assert.equal((await listIncidents(app)).total, 2));
  assert.equal(
    await explain(2),
    'Incident #2 has no picture: only signalbox on db-9, the host of the incident, can take a picture',
  );
  await sendAlert(app, { level: 'ERROR', message: 'somewhere' });
  await waitUntilPasses(async () => assert.equal((await listIncidents(app)).total, 3));
  assert.equal(await explain(3), 'Incident #3 has no picture: the alerts of the incident have no host name');
  assert.equal(await explain('x'), 'Incident x not found: GET /api/incidents?state=all lists the existing names');
  await sendAlert(app, { ...here, level: 'CRITICAL' });
  const takenAt = await waitForPicture(app, 1);
  const before = await ask(app, 1, key.key);
  assert.equal(before.status, 200);
  // A reopened incident keeps its picture.
  const token = await app.login('reader');
  assert.equal((await app.request('POST', '/api/incidents/1/resolve', { token })).status, 200);
  await sendAlert(app, here);
  await waitForIncident(app, { number: 1, state: 'open', reopened: 1, snapshot: takenAt }, `?q=%231`);
  await sendAlert(app, { ...here, message: 'another' });
  await waitForPicture(app, 4);
  assert.equal((await ask(app, 1, token)).text, before.text);
  const metrics = await app.request('GET', '/metrics');
  assert.match(metrics.text, /^signalbox_snapshots_total\{result="taken"\} 2$/m);
});

test('60 incidents of an hour get a picture, and a busy machine does not delay a picture', async (t) => {
  const app = await startApp(t);
  const token = await app.login('reader');
  const busy = [await startBusy(t), await startBusy(t), await startBusy(t)];
  await sendAlert(app, { ...here, key: 'demo-1' });
  await waitForPicture(app, 1);
  assert.ok((await ask(app, 1, token)).json.tookMs <= 1500);
  for (const pid of busy) process.kill(pid, 'SIGKILL');
  for (let number = 2; number <= 61; number += 1) await sendAlert(app, { ...here, key: `demo-${number}` });
  await waitUntilPasses(async () => {
    const { status, json } = await ask(app, 61, token);
    assert.deepEqual(
      [status, json.error],
      [404, 'Incident #61 has no picture: at most 60 pictures are taken in an hour'],
    );
    const { data } = await listIncidents(app, '?limit=100');
    assert.deepEqual([data.length, data.filter(({ snapshot }) => snapshot !== null).length], [61, 60]);
  });
  const folder = join(app.folder, 'data', 'snapshots');
  const files = readdirSync(folder);
  assert.equal(files.length, 60);
  assert.deepEqual(new Set(files.map((name) => statSync(join(folder, name)).mode & 0o777)), new Set([0o600]));
});

test('no picture is taken while the setting is off', async (t) => {
  const app = await startApp(t, { settings: { snapshots: false } });
  await sendAlert(app, here);
  await waitForIncident(app, { number: 1, snapshot: null });
  const { json } = await ask(app, 1, await app.login('reader'));
  assert.equal(json.error, 'Incident #1 has no picture: the setting snapshots is off');
});
