import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createHeartbeat, ping } from '../heartbeats/support/heartbeats.ts';
import { waitForIncident } from '../incidents/support/incidents.ts';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { withClock } from '../support/notifications.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { waitUntil, waitUntilPasses } from '../support/wait.ts';
import { readAvailability, waitForCheck } from './support/availability.ts';

const skip = toSkipPostgres();

/** Settings with a watch on a file. The watch is up while the file exists. */
const watchFile = (path: string) => ({ watches: [{ name: 'file', type: 'file', path, every: 1 }] });

test('a watch that fails and works again has an outage with its length, cause and incident', async (t) => {
  const path = join(createFolder(t), 'present');
  const app = await startApp(t, { settings: watchFile(path) });
  const token = await app.login('admin');
  assert.equal((await readAvailability(app, token, 'watches/file')).percentage, null);
  await waitForCheck(app, token, 'watches/file', 'down');
  const incident = await waitForIncident(app, { state: 'open' });
  writeFileSync(path, '');
  const after = await waitForCheck(app, token, 'watches/file', 'up');
  const [outage] = after.outages;
  assert.equal(after.outageCount, 1);
  assert.equal(outage?.incident, incident.number);
  assert.equal(outage?.seconds, after.down);
  assert.ok(after.days.length === 90 && after.days.at(-1)?.down === after.down);
  assert.ok(outage?.cause?.includes(path), String(outage?.cause));
});

test('a watch that is down and can then no longer be checked is unknown', async (t) => {
  let status = 404;
  const registry = await startReceiver(t, (response) => void response.writeHead(status).end('{}'));
  const watch = { name: 'domain', type: 'domain', domain: 'shop.example', server: registry.url, every: 1 };
  const app = await startApp(t, { settings: { watches: [watch], watchTargets: ['127.0.0.1'] } });
  const token = await app.login('admin');
  await waitForCheck(app, token, 'watches/domain', 'down');
  status = 500;
  const { outages, down } = await waitForCheck(app, token, 'watches/domain', 'unknown');
  assert.equal(outages[0]?.seconds, down);
  assert.notEqual(outages[0]?.endsAt, null);
});

test('a single check that cannot run is unknown at once, and the outages before and after have the same incident', async (t) => {
  let status = 404;
  const registry = await startReceiver(t, (response) => void response.writeHead(status).end('{}'));
  const watch = { name: 'domain', type: 'domain', domain: 'shop.example', server: registry.url, every: 1, for: 1 };
  const app = await startApp(t, { settings: { watches: [watch], watchTargets: ['127.0.0.1'] } });
  const token = await app.login('admin');
  await waitForCheck(app, token, 'watches/domain', 'down');
  const { number } = await waitForIncident(app, { state: 'open' });
  status = 500;
  await waitForCheck(app, token, 'watches/domain', 'unknown');
  status = 404;
  await waitForCheck(app, token, 'watches/domain', 'down');
  await waitUntilPasses(async () => {
    const { outages } = await readAvailability(app, token, 'watches/domain');
    assert.deepEqual(
      outages.map(({ incident }) => incident),
      [number, number],
    );
  });
});

test('an outage continues if a retry can run its check', async (t) => {
  let requests = 0;
  const registry = await startReceiver(t, (response) => {
    requests += 1;
    response.writeHead(requests % 2 === 0 ? 404 : 500).end('{}');
  });
  const watch = { name: 'domain', type: 'domain', domain: 'shop.example', server: registry.url, every: 1, retries: 1 };
  const app = await startApp(t, { settings: { watches: [watch], watchTargets: ['127.0.0.1'] } });
  const token = await app.login('admin');
  await waitForCheck(app, token, 'watches/domain', 'down');
  const before = requests;
  await waitUntil('more checks have run', () => requests >= before + 4);
  const { state, outageCount } = await readAvailability(app, token, 'watches/domain');
  assert.deepEqual([state, outageCount], ['down', 1]);
});

test('a heartbeat is unknown before its first ping, then up, and down from its failure on', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const { uuid } = await createHeartbeat(app, token, 'job');
  const fresh = await readAvailability(app, token, 'heartbeats/job');
  assert.deepEqual([fresh.state, fresh.percentage, fresh.up], ['unknown', null, 0]);
  await ping(app.url, uuid);
  await waitForCheck(app, token, 'heartbeats/job', 'up');
  await ping(app.url, `${uuid}/3`);
  const { outages } = await waitForCheck(app, token, 'heartbeats/job', 'down');
  assert.deepEqual([outages[0]?.cause, outages[0]?.endsAt], ['Heartbeat job failed with exit code 3', null]);
});

test('the time in which the server was off is unknown, and the history from before continues', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  const first = await startApp(t, { settings: { dataDir } });
  const token = await first.login('admin');
  const { uuid } = await createHeartbeat(first, token, 'job');
  await ping(first.url, uuid);
  await waitForCheck(first, token, 'heartbeats/job', 'up');
  await waitUntil(
    'two seconds are counted',
    async () => (await readAvailability(first, token, 'heartbeats/job')).up >= 2,
  );
  await first.close();
  const before = Date.now();
  // The clock of the next server is ten minutes ahead.
  const later = withClock(() => new Date(Date.now() + 600_000));
  const second = await startApp(t, { settings: { dataDir }, features: later });
  const found = await waitForCheck(second, await second.login('admin'), 'heartbeats/job', 'up');
  const off = await readAvailability(
    second,
    await second.login('admin'),
    'heartbeats/job',
    `?from=${new Date(before + 5000).toISOString()}&until=${new Date(before + 590_000).toISOString()}`,
  );
  assert.deepEqual([off.unknown, off.up, off.percentage], [585, 0, null]);
  assert.ok(found.up >= 2 && found.percentage === 100);
});

test('after a clock is set back an hour, the earlier history stays and recording continues', async (t) => {
  let offset = 3_600_000;
  const app = await startApp(t, { features: withClock(() => new Date(Date.now() + offset)) });
  const token = await app.login('admin');
  const { uuid } = await createHeartbeat(app, token, 'job');
  await ping(app.url, uuid);
  await waitForCheck(app, token, 'heartbeats/job', 'up');
  offset = 0;
  await ping(app.url, `${uuid}/3`);
  const { outages, until } = await waitForCheck(app, token, 'heartbeats/job', 'down');
  assert.ok(String(outages[0]?.startsAt) <= until);
});

test('maintenance counts neither as up nor as down, and ends with its silence', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const { uuid } = await createHeartbeat(app, token, 'job');
  await ping(app.url, `${uuid}/3`);
  await waitForCheck(app, token, 'heartbeats/job', 'down');
  const hasSecond = (state: 'down' | 'maintenance') =>
    waitUntil(`a second of ${state}`, async () => (await readAvailability(app, token, 'heartbeats/job'))[state] >= 1);
  await hasSecond('down');
  const endsAt = new Date(Date.now() + 3_600_000).toISOString();
  const body = { match: { source: 'heartbeat/job' }, endsAt, maintenance: true };
  const created = await app.request<{ id: string; maintenance: boolean }>('POST', '/api/silences', { token, body });
  assert.deepEqual([created.status, created.json.maintenance], [201, true]);
  await waitForCheck(app, token, 'heartbeats/job', 'maintenance');
  await hasSecond('maintenance');
  await app.request('DELETE', `/api/silences/${created.json.id}`, { token });
  const after = await waitForCheck(app, token, 'heartbeats/job', 'down');
  assert.equal(after.outages.length, 2);
  const other = { ...body, match: { source: 'heartbeat/other' } };
  await app.request('POST', '/api/silences', { token, body: other });
  await app.request('POST', '/api/silences', { token, body: { match: body.match, endsAt } });
  await ping(app.url, uuid);
  await waitForCheck(app, token, 'heartbeats/job', 'up');
});

test('a paused heartbeat is unknown, and a heartbeat that is deleted and created again starts anew', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const { uuid } = await createHeartbeat(app, token, 'job');
  await ping(app.url, `${uuid}/3`);
  await waitForCheck(app, token, 'heartbeats/job', 'down');
  await app.request('POST', '/api/heartbeats/job/pause', { token });
  await waitForCheck(app, token, 'heartbeats/job', 'unknown');
  await app.request('DELETE', '/api/heartbeats/job', { token });
  assert.equal((await app.request('GET', '/api/heartbeats/job/availability', { token })).status, 404);
  const again = await createHeartbeat(app, token, 'job');
  await ping(app.url, again.uuid);
  const fresh = await waitForCheck(app, token, 'heartbeats/job', 'up');
  assert.deepEqual([fresh.outageCount, fresh.down], [0, 0]);
});

test('CSV has a row for each day or outage, and a cause cannot become a formula', async (t) => {
  const app = await startApp(t, { settings: { timeZone: 'UTC' } });
  const token = await app.login('admin');
  await createHeartbeat(app, token, 'job');
  const read = async (query: string, accept?: string) => {
    const headers = accept === undefined ? {} : { accept };
    const answer = await fetch(`${app.url}/api/heartbeats/job/availability?${query}`, { headers });
    return { type: answer.headers.get('content-type'), text: await answer.text(), status: answer.status };
  };
  const from = new Date(Date.now() - 1000).toISOString();
  const days = await read(`format=csv&from=${from}`);
  assert.equal(days.type, 'text/csv; charset=utf-8');
  assert.match(days.text, /^day,up,down,maintenance,unknown,percentage\r\n\d{4}-\d\d-\d\d,0,0,0,[12],\r\n(?:.*\r\n)?$/);
  assert.equal((await read('list=outages', 'text/csv')).text, 'startsAt,endsAt,seconds,count,cause,incident\r\n');
  assert.match((await read('', 'application/json, text/csv')).type ?? '', /json/);
  assert.match((await read('format=json', 'text/csv')).type ?? '', /json/);
  const list = await fetch(`${app.url}/api/availability?format=csv`, { headers: { authorization: `Bearer ${token}` } });
  const { json } = await app.request<{ paths: Record<string, { get?: { responses: object } }> }>(
    'GET',
    '/openapi.json',
  );
  for (const path of ['/api/availability', '/api/watches/{watch}/availability'])
    assert.match(JSON.stringify(json.paths[path]?.get?.responses), /"text\/csv"/, path);
  assert.match(await list.text(), /^kind,name,state,.*\r\nheartbeat,job,unknown,,0,0,0,\d+,,0\r\n$/);
});

test('a range without seconds, in the future, of eleven years or in an unknown zone gets an error', async (t) => {
  const app = await startApp(t);
  await createHeartbeat(app, await app.login('admin'), 'job');
  const bad = [
    'from=yesterday',
    'until=2026-02-30T00:00:00Z',
    'from=2026-02-01T00:00:00Z&until=2026-01-01T00:00:00Z',
    'from=9990-01-01T00:00:00Z&until=9991-01-01T00:00:00Z',
    'from=2010-01-01T00:00:00Z',
    'timeZone=Mars/Base',
    'format=xml',
  ];
  for (const query of bad) {
    const { status, json } = await app.request<{ error?: string }>('GET', `/api/heartbeats/job/availability?${query}`);
    assert.equal(status, 400, `${query}: ${JSON.stringify(json)}`);
  }
  for (const path of ['/api/heartbeats/none/availability', '/api/watches/none/availability']) {
    assert.equal((await app.request('GET', path, { token: await app.login('admin') })).status, 404);
  }
});

test('a watch with `open` has a badge with its state or percentage, and other watches have none', async (t) => {
  const path = join(createFolder(t), 'present');
  writeFileSync(path, '');
  const watch = { type: 'file', path, every: 1 };
  const watches = [
    { ...watch, name: 'shown', open: true },
    { ...watch, name: 'hidden' },
  ];
  const app = await startApp(t, { settings: { watches } });
  await waitForCheck(app, await app.login('admin'), 'watches/shown', 'up');
  const read = async (query: string) => (await fetch(`${app.url}/api/watches/shown/badge.svg${query}`)).text();
  assert.match(await read(''), /<title>shown: up<\/title>/);
  await waitUntil('a second is counted', async () => (await read('?show=percentage')).includes('100 % (30 d)'));
  assert.equal((await fetch(`${app.url}/api/watches/hidden/badge.svg`)).status, 404);
  assert.equal((await fetch(`${app.url}/api/watches/shown/badge.svg?days=0`)).status, 400);
});

test('two instances with one database give the same history, also after one of them has ended', { skip }, async (t) => {
  const settings = { store: await createDatabase(t), timeZone: 'UTC' };
  const [one, other] = [await startApp(t, { settings }), await startApp(t, { settings })];
  const token = await one.login('admin');
  const { uuid } = await createHeartbeat(one, token, 'job');
  await ping(one.url, `${uuid}/3`);
  const begun = await waitForCheck(one, token, 'heartbeats/job', 'down');
  const range = `?from=${begun.from}&until=${begun.until}`;
  await waitForCheck(other, await other.login('admin'), 'heartbeats/job', 'down');
  const read = (app: typeof one) => readAvailability(app, token, 'heartbeats/job', range);
  // An instance may learn the incident's number a moment later.
  await waitUntilPasses(async () => assert.deepEqual(await read(one), await read(other)));
  await one.close();
  await ping(other.url, uuid);
  await waitForCheck(other, token, 'heartbeats/job', 'up', 40_000);
  const third = await startApp(t, { settings });
  await waitForCheck(third, token, 'heartbeats/job', 'up', 40_000);
  assert.deepEqual((await read(third)).outages, (await read(other)).outages);
});
