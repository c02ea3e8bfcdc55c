import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Incident } from '../../src/features/incidents/schema.ts';
import { createId, toLineStart, toRecordLine } from '../../src/storage/journal/line.ts';
import { changeJournal, sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { amount } from '../support/long.ts';
import { waitUntil, waitUntilPasses } from '../support/wait.ts';
import { listIncidents, readIncident, waitForIncident } from './support/incidents.ts';

const disk = { source: 'disk', level: 'ERROR', message: 'sda1 is full', hostname: 'web-1' };
const hourMs = 60 * 60 * 1000;

test('while the log cannot be written, actions and alerts get 503, and all stored actions are kept', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await sendAlert(app, disk);
  await waitForIncident(app, { count: 1 });
  const path = join(app.folder, 'data', 'alerts.jsonl');
  const act = async (comment: string) =>
    (await app.request('POST', '/api/incidents/1/comment', { token, body: { comment } })).status;
  assert.equal(await act('before'), 200);
  renameSync(path, `${path}.1`);
  mkdirSync(path);
  assert.equal(await act('lost'), 503);
  assert.equal(await act('lost, too'), 503);
  assert.equal((await app.request('POST', '/api/alert', { body: disk })).status, 503);
  assert.equal((await app.request('GET', '/api/incidents')).json['total'], 1);
  assert.equal((await app.request('GET', '/ready')).status, 503);
  rmdirSync(path);
  await waitUntil('actions are stored again', async () => (await act('after')) === 200);
  await sendAlert(app, disk);
  await waitUntilPasses(async () => assert.equal((await app.request('GET', '/ready')).json['unavailable'], undefined));
  await app.close();
  const next = await startApp(t, { settings: { dataDir: join(app.folder, 'data') } });
  await waitForIncident(next, { count: 2, state: 'open' });
  const comments = (await readIncident(next, 1)).timeline.flatMap(({ comment }) => comment ?? []);
  assert.deepEqual(comments, ['before', 'after']);
});

test('a task that was created while actions could not be stored is used by the next attempt', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await sendAlert(app, disk);
  await waitForIncident(app, { count: 1 });
  const post = (path: string, body?: object) =>
    app.request<Incident>('POST', `/api/incidents/1/${path}`, { token, body });
  const path = join(app.folder, 'data', 'alerts.jsonl');
  renameSync(path, `${path}.1`);
  mkdirSync(path);
  assert.equal((await post('task')).status, 503);
  rmdirSync(path);
  await waitUntil('actions are stored again', async () => (await post('comment', { comment: 'x' })).status === 200);
  const { status, json } = await post('task');
  assert.deepEqual([status, json.task], [201, 1]);
  assert.equal((await app.request<{ total: number }>('GET', '/api/tasks')).json.total, 1);
});

test('while the alert log cannot be read, alerts are accepted, and folded later', async (t) => {
  let isBroken = false;
  const features = changeJournal((journal) => ({
    ...journal,
    async *readAfter(...args) {
      if (isBroken) throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
      yield* journal.readAfter(...args);
    },
    recentAfter: (seq) => (isBroken ? undefined : journal.recentAfter?.(seq)),
  }));
  const app = await startApp(t, { features });
  await sendAlert(app, disk);
  await waitForIncident(app, { count: 1 });
  isBroken = true;
  for (let count = 0; count < 5; count += 1) await sendAlert(app, disk);
  await waitUntilPasses(async () =>
    assert.deepEqual((await app.request('GET', '/ready')).json['unavailable'], ['incidents']),
  );
  assert.equal((await app.request('GET', '/api/incidents')).status, 200);
  isBroken = false;
  await waitForIncident(app, { count: 6 });
  assert.equal((await app.request('GET', '/ready')).json['unavailable'], undefined);
});

test('a damaged snapshot is reported, and its readable incidents are kept', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await sendAlert(app, disk);
  await waitForIncident(app, { number: 1 });
  await app.request('POST', '/api/incidents/1/comment', { token, body: { comment: 'x' } });
  const dataDir = join(app.folder, 'data');
  await app.close();
  const path = join(dataDir, 'alerts.incidents.state');
  writeFileSync(path, readFileSync(path, 'utf8').replace(/"crc":.*/, '"crc":1}'));
  const { next, lines } = await startAgain(t, dataDir);
  await waitForIncident(next, { count: 1, number: 1, title: 'sda1 is full' });
  assert.deepEqual(
    (await readIncident(next, 1)).timeline.flatMap(({ comment }) => comment ?? []),
    ['x'],
  );
  assert.ok(lines.some((line) => line.includes('the snapshot is damaged')));
});

test('without a readable snapshot, the alerts and actions of the last day are folded again to incidents with the same ids', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await sendAlert(app, disk);
  const { id } = await waitForIncident(app, { number: 1 });
  await app.request('POST', '/api/incidents/1/comment', { token, body: { comment: 'x' } });
  const dataDir = join(app.folder, 'data');
  await app.close();
  writeFileSync(join(dataDir, 'alerts.incidents.state'), 'nothing of a snapshot');
  const { next } = await startAgain(t, dataDir);
  const again = await waitForIncident(next, { count: 1, title: 'sda1 is full' });
  assert.equal(again.id, id);
  await sendAlert(next, { ...disk, message: 'another' });
  await waitUntilPasses(async () => assert.equal((await listIncidents(next)).total, 2));
});

const startAgain = async (t: TestContext, dataDir: string) => {
  const lines: string[] = [];
  const { pino } = await import('pino');
  const log = pino({}, { write: (line: string) => lines.push(line) });
  return { next: await startApp(t, { settings: { dataDir }, log }), lines };
};

test('the alerts of the last day in an alert log of a version without incidents are folded once', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  await mkdir(dataDir, { recursive: true });
  const toStored = (hours: number, index: number): string => {
    const at = Date.now() - hours * hourMs;
    const record = { ...disk, message: `disk ${'abcdefgh'[index]}`, time: new Date(at).toISOString() };
    return toRecordLine(toLineStart(record, createId(at)), index + 1);
  };
  await writeFile(join(dataDir, 'alerts.jsonl'), [100, 30, 25, 23, 5, 1].map(toStored).join(''));
  const titlesOf = async (app: Parameters<typeof listIncidents>[0]) =>
    (await listIncidents(app)).data.map(({ title, number, count }) => `${number} ${title} ${count}`);
  const app = await startApp(t, { settings: { dataDir, alertsRetainDays: 0 } });
  const expected = ['3 disk f 1', '2 disk e 1', '1 disk d 1'];
  await waitUntilPasses(async () => assert.deepEqual(await titlesOf(app), expected));
  await sendAlert(app, { ...disk, message: 'new' });
  await waitUntilPasses(async () => assert.deepEqual(await titlesOf(app), ['4 new 1', ...expected]));
  await app.close();
  const next = await startApp(t, { settings: { dataDir, alertsRetainDays: 0 } });
  await waitUntilPasses(async () => assert.deepEqual(await titlesOf(next), ['4 new 1', ...expected]));
});

test('alerts with times before the first alert, because the clock was set back, are listed with their incident', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  await mkdir(dataDir, { recursive: true });
  const toStored = (hours: number, index: number): string => {
    const at = Date.now() - hours * hourMs;
    return toRecordLine(toLineStart({ ...disk, time: new Date(at).toISOString() }, createId(at)), index + 1);
  };
  await writeFile(join(dataDir, 'alerts.jsonl'), [1, 3, 2].map(toStored).join(''));
  const app = await startApp(t, { settings: { dataDir } });
  await waitForIncident(app, { count: 3 });
  const { json } = await app.request<{ data: { seq: number }[] }>('GET', '/api/incidents/1/alerts');
  assert.deepEqual(
    json.data.map(({ seq }) => seq),
    [3, 2, 1],
  );
});

test('a storm of alerts with different keys opens at most 20,000 incidents, and each alert is counted', async (t) => {
  const app = await startApp(t);
  const total = amount(24, 100);
  const perBody = 1000;
  for (let body = 0; body < total; body += 1) {
    const alerts = Array.from({ length: perBody }, (_, index) => ({
      labels: { alertname: `A${body * perBody + index}`, severity: 'error', instance: 'web-1' },
      startsAt: '2026-01-31T09:30:00Z',
    }));
    const { status } = await app.request('POST', '/api/alert/prometheus', { body: alerts });
    assert.equal(status, 200);
  }
  await waitUntilPasses(async () => assert.equal((await listIncidents(app, '?limit=1')).total, 20_001), 60_000);
  const { data } = await listIncidents(app, '?source=signalbox');
  assert.deepEqual(
    data.map(({ count, title }) => [count, title]),
    [[total * perBody - 20_000, 'Too many incidents are open: this incident collects all further alerts']],
  );
  const { text } = await app.request('GET', '/metrics');
  assert.match(text, new RegExp(`^signalbox_incidents_overflow_alerts_total ${total * perBody - 20_000}$`, 'm'));
  const alerts = await app.request<{ count: number }>('GET', `/api/incidents/${data[0]?.id}/alerts`);
  assert.equal(alerts.json.count, 0);
  const ids = (await listIncidents(app, '?limit=500')).data.map(({ id }: Incident) => id);
  const token = await app.login('admin');
  const resolved = await app.request<{ data: { status: number }[] }>('POST', '/api/incidents/resolve', {
    token,
    body: { ids, comment: 'x'.repeat(4000) },
  });
  assert.deepEqual([...new Set(resolved.json.data.map(({ status }) => status))], [200]);
});
