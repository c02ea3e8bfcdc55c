import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAccessKey } from '../../src/auth/access.ts';
import type { Silence } from '../../src/features/silences/schema.ts';
import { readIncident, waitForIncident } from '../incidents/support/incidents.ts';
import { sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { openEvents } from '../support/events.ts';
import { messagesOf, startOutbox, toDestination } from '../support/outbox.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait.ts';
import { createSilence, inHours, listSilences } from './support/silences.ts';

const disk = { source: 'backup', level: 'ERROR', message: '/var is 86 % full', hostname: 'db-1' };

test('a silence applies to matching incidents until somebody ends it, and stays listed', async (t) => {
  const app = await startApp(t);
  const token = await app.login('reader');
  const silence = await createSilence(app, token, { match: { source: 'back*' }, comment: 'new disk' });
  assert.deepEqual(
    [silence.state, silence.match, silence.matchers, silence.createdBy, silence.comment, silence.schedule],
    ['active', { source: 'back*' }, null, 'reader', 'new disk', null],
  );
  await sendAlert(app, disk);
  const incident = await waitForIncident(app, { silencedBy: [silence.id] });
  assert.deepEqual((await readIncident(app, 1)).silencedBy, [silence.id]);
  const other = await createSilence(app, token, { match: { hostname: 'DB-1' }, startsAt: inHours(0.5) });
  assert.equal(other.state, 'pending');
  assert.deepEqual((await readIncident(app, incident.id)).silencedBy, [silence.id]);
  const acknowledged = await app.request<{ silencedBy: string[] }>('POST', '/api/incidents/1/acknowledge', { token });
  assert.deepEqual(acknowledged.json.silencedBy, [silence.id]);
  const ended = await app.request<Silence>('DELETE', `/api/silences/${silence.id}`, { token });
  assert.deepEqual([ended.status, ended.json.state, ended.json.window], [200, 'expired', null]);
  assert.deepEqual((await readIncident(app, 1)).silencedBy, []);
  const again = await app.request<Silence>('DELETE', `/api/silences/${silence.id}`, { token });
  assert.deepEqual([again.status, again.json.version], [200, ended.json.version]);
  const page = await listSilences(app);
  assert.deepEqual(
    page.data.map(({ id, state }) => [id, state]),
    [
      [other.id, 'pending'],
      [silence.id, 'expired'],
    ],
  );
  assert.deepEqual((await listSilences(app, '?state=pending')).data, [page.data[0]]);
  const first = await listSilences(app, '?limit=1');
  assert.deepEqual([first.count, first.total, first.next], [1, 2, other.id]);
  assert.deepEqual((await listSilences(app, `?limit=1&before=${first.next}`)).data, [page.data[1]]);
});

test('a silence is replaced unless it has expired or the request expects another version', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const silence = await createSilence(app, token, { match: { source: 'a' } });
  const put = (body: object, headers = {}) =>
    app.request<Silence>('PUT', `/api/silences/${silence.id}`, { token, body, headers });
  const body = { match: { source: 'b' }, endsAt: inHours(2) };
  const changed = await put(body, { 'if-match': `"${silence.version}"` });
  assert.equal(changed.status, 200);
  assert.deepEqual([changed.json.match, changed.json.startsAt], [{ source: 'b' }, silence.startsAt]);
  const stale = await put(body, { 'if-match': `"${silence.version}"` });
  assert.deepEqual([stale.status, stale.headers['etag']], [412, `"${changed.json.version}"`]);
  const headers = { 'if-match': '"1"' };
  const { status } = await app.request('DELETE', `/api/silences/${silence.id}`, { token, headers });
  assert.equal(status, changed.json.version === 1 ? 200 : 412);
  await app.request('DELETE', `/api/silences/${silence.id}`, { token });
  assert.equal((await put(body)).status, 409);
  assert.equal((await app.request('PUT', '/api/silences/none', { token, body })).status, 404);
});

test('a recurring silence shows its window and is active during the window', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const always = { match: { level: '*' }, schedule: '* * * * *', minutes: 5, endsAt: undefined };
  const silence = await createSilence(app, token, { ...always, timeZone: 'Europe/Berlin' });
  assert.deepEqual([silence.state, silence.endsAt, silence.schedule], ['active', null, '* * * * *']);
  assert.ok(silence.window);
  await sendAlert(app, disk);
  await waitForIncident(app, { silencedBy: [silence.id] });
  const yearly = await createSilence(app, token, {
    match: { source: 'x' },
    schedule: '0 0 29 2 *',
    minutes: 1,
    endsAt: undefined,
  });
  assert.equal(yearly.state, 'pending');
  assert.match(yearly.window?.startsAt ?? '', /-02-2/);
});

test('an invalid silence gets a 400 that says what to do', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const usual = { match: { source: 'a' }, endsAt: inHours(1) };
  const refused: [object, RegExp][] = [
    [{ endsAt: inHours(1) }, /match/],
    [{ ...usual, match: {} }, /match needs at least one of source/],
    [{ ...usual, match: { source: 'a', host: 'b' } }, /match.host is unknown: use source, hostname/],
    [{ ...usual, match: { source: '' } }, /must not be empty/],
    [{ ...usual, match: { level: 'warn' } }, /match.level must match one of CRITICAL/],
    [{ match: { source: 'a' } }, /endsAt is required unless schedule is set/],
    [{ ...usual, endsAt: 'tomorrow' }, /endsAt must be an RFC 3339 time/],
    [{ ...usual, endsAt: inHours(-1) }, /endsAt must be in the future/],
    [{ ...usual, startsAt: inHours(2) }, /endsAt must be after startsAt/],
    [{ ...usual, schedule: '0 2 * * 6' }, /schedule and minutes must be set together/],
    [{ ...usual, minutes: 3 }, /schedule and minutes must be set together/],
    [{ ...usual, schedule: 'never', minutes: 3 }, /schedule must be a cron expression/],
    [{ ...usual, schedule: '0 0 30 2 *', minutes: 3 }, /never matches a date/],
    [{ ...usual, schedule: '0 0 * * *', minutes: 3, timeZone: 'Mars' }, /timeZone must be a name/],
  ];
  for (const [body, message] of refused) {
    const { status, json } = await app.request<{ error: string }>('POST', '/api/silences', { token, body });
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(json.error, message);
  }
  assert.equal((await listSilences(app)).total, 0);
  assert.equal((await app.request('GET', '/api/silences/x')).status, 404);
});

test('silences survive a restart, and the audit says who created them', async (t) => {
  const app = await startApp(t);
  const token = await app.login('reader');
  const silence = await createSilence(app, token, { match: { source: 'a' } });
  await app.request('DELETE', `/api/silences/${silence.id}`, { token });
  const { json } = await app.request<{ data: object[]; next: number | null }>(
    'GET',
    '/api/audit?kind=silence&limit=1',
    {
      token: await app.login('admin'),
    },
  );
  assert.equal(json.data.length, 1);
  assert.notEqual(json.next, null);
  const rest = await app.request<{ data: Record<string, string>[]; next: number | null }>(
    'GET',
    `/api/audit?before=${json.next}`,
    { token: await app.login('admin') },
  );
  assert.deepEqual(
    rest.json.data.map(({ by, name, change, label }) => [by, name, change, label]),
    [['reader', silence.id, 'put', 'source a']],
  );
  assert.equal(rest.json.next, null);
  const listed = await listSilences(app);
  await app.close();
  const again = await startApp(t, { settings: { dataDir: `${app.folder}/data` } });
  assert.deepEqual(await listSilences(again), listed);
});

test('changing silences needs a token or a key with incidents:write, and every change is published as an event', async (t) => {
  const keys = [createAccessKey('oncall', ['incidents:write']), createAccessKey('review', ['incidents:read'])];
  const app = await startApp(t, { settings: { keys: keys.map(({ entry }) => entry) } });
  const body = { match: { source: 'a' }, endsAt: inHours(1) };
  const post = async (token?: string) => (await app.request('POST', '/api/silences', { token, body })).status;
  assert.deepEqual([await post(), await post(keys[1]?.key)], [401, 403]);
  const events = await openEvents(t, app.url, 'silences');
  assert.equal(await post(keys[0]?.key), 201);
  const [event] = await events.waitFor('silences');
  assert.equal(event?.data['createdBy'], 'key:oncall');
});

test('a destination of alerts gets no alert that was received under a silence', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startOutbox(t, [toDestination(receiver)]);
  const token = await app.login('reader');
  await sendAlert(app, { ...disk, message: 'before' });
  const silence = await createSilence(app, token, { match: { source: 'backup', text: '*disk*' } });
  const silenced = await sendAlert(app, { ...disk, message: 'a disk is full' });
  await sendAlert(app, { ...disk, message: 'other' });
  await app.request('DELETE', `/api/silences/${silence.id}`, { token });
  await sendAlert(app, { ...disk, message: 'another disk' });
  await waitUntil('the other alerts are delivered', () => receiver.requests.length === 3);
  assert.deepEqual(messagesOf(receiver).sort(), ['another disk', 'before', 'other']);
  const { json } = await app.request<{ deliveries: { status: string }[] }>('GET', `/api/alerts/${silenced}`);
  assert.equal(json.deliveries[0]?.status, 'skipped');
});

test('a destination of alerts gets the resolution of an alert exactly if it got the alert, even under a silence', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startOutbox(t, [toDestination(receiver)]);
  const token = await app.login('reader');
  const send = (key: string, fields: object = {}) => sendAlert(app, { ...disk, key, message: key, ...fields });
  await send('before');
  const silence = await createSilence(app, token, { match: { source: 'backup', level: 'ERROR' } });
  await send('before');
  await send('quiet');
  await send('both');
  await send('before', { status: 'resolved', level: 'INFO', message: 'end of before' });
  await app.request('DELETE', `/api/silences/${silence.id}`, { token });
  await send('both', { level: 'CRITICAL' });
  await createSilence(app, token, { match: { source: 'backup' } });
  for (const key of ['quiet', 'both']) await send(key, { status: 'resolved', level: 'INFO', message: `end of ${key}` });
  await sendAlert(app, { source: 'other', message: 'last' });
  await waitUntil('the last alert is delivered', () => messagesOf(receiver).includes('last'));
  assert.deepEqual(messagesOf(receiver), ['before', 'end of before', 'both', 'end of both', 'last']);
});

const skip = toSkipPostgres();

test('a silence created on one instance is active on another, and both have the same audit', { skip }, async (t) => {
  const settings = { store: await createDatabase(t), timeZone: 'UTC' };
  const [one, other] = [await startApp(t, { settings }), await startApp(t, { settings })];
  const token = await one.login('admin');
  const silence = await createSilence(one, token, { match: { source: 'back*' } });
  await sendAlert(other, disk);
  await waitForIncident(other, { silencedBy: [silence.id] });
  const headers = { 'if-match': `"${silence.version}"` };
  const changed = await other.request<Silence>('DELETE', `/api/silences/${silence.id}`, { token, headers });
  assert.equal(changed.status, 200);
  const stale = await one.request('DELETE', `/api/silences/${silence.id}`, { token, headers });
  assert.ok(stale.status === 412 || stale.json['state'] === 'expired');
  await waitForIncident(one, { silencedBy: [] });
  const audits = await Promise.all([one, other].map((app) => app.request('GET', '/api/audit', { token })));
  assert.equal(audits[0]?.json['count'], 2);
  assert.deepEqual(audits[0]?.json, audits[1]?.json);
});
