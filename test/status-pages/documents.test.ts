import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitForCheck } from '../availability/support/availability.ts';
import { createHeartbeat, ping } from '../heartbeats/support/heartbeats.ts';
import { waitForIncident } from '../incidents/support/incidents.ts';
import { sendAlert } from '../support/alerts.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { putPage } from './support/pages.ts';

const paths = [
  '/status/main',
  '/status/main/rss.xml',
  '/status/main/maintenance.ics',
  '/api/status-page/main',
  '/api/status-page/heartbeat/main',
  '/api/v2/summary.json?page=main',
];

const groups = [
  { name: 'Services', checks: [{ name: 'Shop', heartbeat: 'job' }] },
  { name: 'Others', checks: [{ name: 'Mail', heartbeat: 'none' }] },
];

/** Starts a server with a page, a check that is down, maintenance and an announcement. */
const start = async (t: Parameters<typeof startApp>[0], title = 'Slow <b>responses</b>'): Promise<TestApp> => {
  const app = await startApp(t, { settings: { publicUrl: 'https://status.example.org/' } });
  const token = await app.login('admin');
  await putPage(app, token, 'main', { title: 'Example & Co', groups });
  const { uuid } = await createHeartbeat(app, token, 'job');
  await ping(app.url, uuid);
  await waitForCheck(app, token, 'heartbeats/job', 'up');
  await ping(app.url, `${uuid}/3`);
  await waitForCheck(app, token, 'heartbeats/job', 'down');
  const [startsAt, endsAt] = [1, 2].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString());
  const silence = { match: { source: 'heartbeat/job' }, startsAt, endsAt, comment: 'x', maintenance: true };
  assert.equal((await app.request('POST', '/api/silences', { token, body: silence })).status, 201);
  const body = { page: 'main', title, text: 'Text & more', state: 'identified' };
  assert.equal((await app.request('POST', '/api/incidents/1/announcements', { token, body })).status, 201);
  return app;
};

test('announcements are served as a feed, and maintenance as a calendar', async (t) => {
  const app = await start(t);
  const feed = await app.request('GET', '/status/main/rss.xml');
  assert.equal(feed.headers['content-type'], 'application/rss+xml; charset=utf-8');
  assert.match(
    feed.text,
    /<title>Example &amp; Co<\/title>\n<link>https:\/\/status\.example\.org\/status\/main<\/link>/,
  );
  assert.match(feed.text, /<item><title>Identified: Slow &lt;b&gt;responses&lt;\/b&gt;<\/title>/);
  const calendar = await app.request('GET', '/status/main/maintenance.ics');
  assert.equal(calendar.headers['content-type'], 'text/calendar; charset=utf-8');
  assert.match(calendar.text, /BEGIN:VEVENT\r\nUID:[0-9a-f]{24}@signalbox\r\n/);
  assert.match(calendar.text, /\r\nSUMMARY:Maintenance: Shop\r\n/);
  for (const path of paths) {
    const { headers, status } = await app.request('GET', path);
    assert.equal(status, 200, path);
    const again = await app.request('GET', path, { headers: { 'if-none-match': headers['etag'] ?? '' } });
    assert.deepEqual([again.status, again.text], [304, ''], path);
  }
});

test('widgets for Uptime Kuma read the page and its states', async (t) => {
  const app = await start(t);
  const page = await app.request<{
    config: { slug: string; title: string };
    incident: { title: string } | null;
    publicGroupList: { name: string; monitorList: { id: number; name: string }[] }[];
    maintenanceList: { title: string; status: string }[];
  }>('GET', '/api/status-page/main');
  assert.deepEqual([page.json.config.slug, page.json.config.title], ['main', 'Example & Co']);
  assert.equal(page.json.incident?.title, 'Slow <b>responses</b>');
  assert.deepEqual(
    page.json.publicGroupList.map(({ name, monitorList }) => [name, monitorList.map((one) => [one.id, one.name])]),
    [
      ['Services', [[1, 'Shop']]],
      ['Others', [[2, 'Mail']]],
    ],
  );
  assert.deepEqual(
    page.json.maintenanceList.map(({ title, status }) => [title, status]),
    [['Shop', 'scheduled']],
  );
  const beats = await app.request<{
    heartbeatList: Record<string, { status: number; time: string }[]>;
    uptimeList: Record<string, number>;
  }>('GET', '/api/status-page/heartbeat/main');
  assert.deepEqual(
    [beats.json.heartbeatList['1']?.at(-1)?.status, beats.json.heartbeatList['2']?.at(-1)?.status],
    [0, 2],
  );
  assert.match(beats.json.heartbeatList['1']?.[0]?.time ?? '', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/);
  assert.ok(!('2_24' in beats.json.uptimeList));
});

test('widgets for Statuspage read the first open page, or the page they name', async (t) => {
  const app = await start(t);
  const token = await app.login('admin');
  const { json } = await app.request<{
    page: { name: string; url: string };
    status: { indicator: string; description: string };
    components: { name: string; status: string; group: boolean; group_id: string | null; id: string }[];
    incidents: { name: string; status: string; incident_updates: { body: string }[] }[];
    scheduled_maintenances: { name: string; status: string }[];
  }>('GET', '/api/v2/summary.json');
  assert.deepEqual([json.page.name, json.page.url], ['Example & Co', 'https://status.example.org/status/main']);
  assert.deepEqual(json.status, { indicator: 'major', description: 'Some systems are down' });
  assert.deepEqual(
    json.components.map(({ name, status, group }) => [name, status, group]),
    [
      ['Services', 'major_outage', true],
      ['Shop', 'major_outage', false],
      ['Others', 'degraded_performance', true],
      ['Mail', 'degraded_performance', false],
    ],
  );
  assert.equal(json.components[1]?.group_id, json.components[0]?.id);
  assert.deepEqual(
    json.incidents.map(({ status, incident_updates: [one] }) => [status, one?.body]),
    [['identified', 'Text & more']],
  );
  assert.deepEqual(
    json.scheduled_maintenances.map(({ name, status }) => [name, status]),
    [['Maintenance: Shop', 'scheduled']],
  );
  await putPage(app, token, 'without', { title: 'Empty', groups: [] });
  const empty = await app.request<{ status: object }>('GET', '/api/v2/summary.json?page=without');
  assert.deepEqual(empty.json.status, { indicator: 'none', description: '' });
  await putPage(app, token, 'alpha', { title: 'Inside', groups, access: 'login' });
  const named = await app.request('GET', '/api/v2/summary.json?page=alpha');
  assert.equal(named.status, 401);
  const first = await app.request<{ page: { name: string } }>('GET', '/api/v2/summary.json');
  assert.equal(first.json.page.name, 'Example & Co');
});

test('public documents contain no internal names, paths, comments, incidents or ids', async (t) => {
  const secret = 'topsecret-inside';
  const path = join(createFolder(t), secret);
  const app = await startApp(t, { settings: { watches: [{ name: secret, type: 'file', path, every: 1 }] } });
  const token = await app.login('admin');
  const checks = [{ name: 'Shop', watch: secret }];
  await putPage(app, token, 'main', { title: 'Example', groups: [{ name: 'Services', checks }] });
  await waitForCheck(app, token, `watches/${secret}`, 'down');
  await waitForIncident(app, { state: 'open' });
  await sendAlert(app, { source: secret, message: secret, hostname: secret });
  const [startsAt, endsAt] = [1, 2].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString());
  const silence = { match: { source: `watch/${secret}` }, startsAt, endsAt, comment: secret, maintenance: true };
  const { json: made } = await app.request<{ id: string }>('POST', '/api/silences', { token, body: silence });
  const body = { page: 'main', title: 'Shop is down', text: 'We are on it.', state: 'investigating' };
  const announced = await app.request<{ id: string }>('POST', '/api/incidents/1/announcements', { token, body });
  assert.equal(announced.status, 201);
  const { json: incident } = await app.request<{ id: string }>('GET', '/api/incidents/1');
  for (const each of paths) {
    const { status, headers, text } = await app.request('GET', each);
    assert.equal(status, 200, each);
    const all = JSON.stringify(headers) + text;
    for (const inside of [secret, made.id, announced.json.id, incident.id, 'admin', 'topsecret'])
      assert.ok(!all.includes(inside), `${each} contains ${inside}`);
    assert.ok(/Shop|heartbeatList/.test(text), each);
  }
});
