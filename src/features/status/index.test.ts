import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp, type TestApp } from '../../../test/support/app.ts';
import { openEvents } from '../../../test/support/events.ts';
import { waitUntil, waitUntilPasses } from '../../../test/support/wait.ts';
import { type Concern, defineFeature, type Feature } from '../../kit/feature.ts';
import { features } from '../index.ts';
import type { HealthStatus } from './index.ts';

const read = async ({ request }: TestApp): Promise<HealthStatus> =>
  (await request<HealthStatus>('GET', '/api/status')).json;

/** Returns the problems, except problems of the machine that runs the test. */
const listOwn = ({ problems }: Pick<HealthStatus, 'problems'>) => problems.filter(({ area }) => area !== 'host');

/** Creates a feature with the given concerns. */
const createWorried = (concerns: Concern[]): Feature =>
  defineFeature({
    name: 'worried',
    profiles: [{ name: 'worried', mounts: ['/'], summary: 'has concerns' }],
    settings: {},
    create: () => ({ profiles: { worried: [] }, findConcerns: () => concerns }),
  });

test('a new server has no problems and reports the usage of the machine', async (t) => {
  const app = await startApp(t);
  await waitUntilPasses(async () => {
    const { status, time, problems, host } = await read(app);
    assert.equal(status, problems.length === 0 ? 'ok' : 'attention');
    assert.deepEqual(listOwn({ problems }), []);
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    for (const share of [host?.cpu, host?.memory]) assert.ok(typeof share === 'number' && share >= 0 && share <= 1);
  });
});

test('stores and logs are problems while they cannot be written', async (t) => {
  const app = await startApp(t, { settings: { store: 'file' } });
  const paths = ['tasks.jsonl', 'alerts.jsonl'].map((name) => join(app.folder, 'data', name));
  for (const path of paths) {
    renameSync(path, `${path}.1`);
    mkdirSync(path);
  }
  const post = async () => [
    (await app.request('POST', '/api/tasks', { body: { Title: 'a' } })).status,
    (await app.request('POST', '/api/alert', { body: { message: 'a' } })).status,
  ];
  assert.deepEqual(await post(), [503, 503]);
  const answer = await read(app);
  assert.equal(answer.status, 'attention');
  assert.deepEqual(listOwn(answer), [
    { area: 'stores', severity: 'CRITICAL', text: 'Changes to tasks cannot be stored' },
    { area: 'log', severity: 'CRITICAL', text: 'The alert log cannot be written' },
  ]);
  for (const path of paths) rmdirSync(path);
  await waitUntil('the store and the log can be written', async () => {
    await post();
    return listOwn(await read(app)).length === 0;
  });
});

test('problems are sorted by severity, then by area', async (t) => {
  const concerns: Concern[] = [
    { area: 'deliveries', severity: 'ERROR', text: 'c' },
    { area: 'log', severity: 'CRITICAL', text: 'b' },
    { area: 'incidents', severity: 'WARNING', text: 'd' },
    { area: 'incidents', severity: 'CRITICAL', text: 'a' },
  ];
  const app = await startApp(t, { features: [...features, createWorried(concerns)] });
  assert.deepEqual(
    listOwn(await read(app)).map(({ text }) => text),
    ['a', 'b', 'c', 'd'],
  );
});

test('a listener gets the status at once, and again only when it changes', async (t) => {
  const concerns: Concern[] = [];
  const app = await startApp(t, { features: [...features, createWorried(concerns)] });
  const client = await openEvents(t, app.url, 'status,history');
  const [first] = await client.waitFor('status');
  assert.deepEqual(Object.keys(first?.data ?? {}), ['status', 'time', 'problems', 'host', 'bootedAt']);
  // The history publishes an event every second.
  await client.waitFor('history', 3);
  concerns.push({ area: 'deliveries', severity: 'WARNING', text: '3 alerts wait' });
  await waitUntil('the problem arrives', () =>
    client.events().some(({ data }) => JSON.stringify(data).includes('3 alerts wait')),
  );
  const texts = (await client.waitFor('status')).map(({ data }) => JSON.stringify({ ...data, time: '' }));
  for (const [index, text] of texts.entries()) assert.notEqual(text, texts[index - 1]);
  const second = await openEvents(t, app.url, 'status');
  const [now] = await second.waitFor('status');
  assert.equal(listOwn(now?.data as unknown as HealthStatus).length, 1);
});

test('the status works alone, without the history', async (t) => {
  const app = await startApp(t, { settings: { profiles: ['status', 'events'] } });
  await waitUntilPasses(async () => assert.notEqual((await read(app)).host, null));
});
