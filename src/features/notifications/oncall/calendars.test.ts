import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import ICAL from 'ical.js';
import { startApp, type TestApp } from '../../../../test/support/app.ts';
import { createFolder } from '../../../../test/support/folder.ts';
import { findFreePort } from '../../../../test/support/free-port.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { hourMs } from '../../../lib/units.ts';
import { writeFeed } from './calendar-feed.ts';
import { toPeopleRotation } from './create-rotation.ts';

interface CreatedAddress {
  id: string;
  path: string;
}

interface Entry {
  person: string;
  startsAt: string;
  endsAt: string;
}

const layers = [{ people: ['admin', 'reader'], handover: { every: '1 week', at: 'Mon 09:00' } }];

const start = async (t: TestContext) => {
  const app = await startApp(t);
  const tokens = { admin: await app.login('admin'), reader: await app.login('reader') };
  const send = <T = Record<string, unknown>>(user: keyof typeof tokens, method: string, path: string, body?: object) =>
    app.request<T>(method, path, { token: tokens[user], ...(body && { body }) });
  await send('admin', 'PUT', '/api/rotations/ops', { timeZone: 'Europe/Berlin', layers });
  return { app, send };
};

const readEvents = async ({ url }: Pick<TestApp, 'url'>, path: string) => {
  const text = await (await fetch(url + path)).text();
  return new ICAL.Component(ICAL.parse(text)).getAllSubcomponents('vevent').map((each) => {
    const event = new ICAL.Event(each);
    return {
      uid: event.uid,
      summary: event.summary,
      start: event.startDate.toJSDate().getTime(),
      end: event.endDate.toJSDate().getTime(),
      alarms: each.getAllSubcomponents('valarm').length,
    };
  });
};

test('a secret address has the shifts of a person, with a reminder each, at the times of the calendar', async (t) => {
  const { app, send } = await start(t);
  const created = await send<CreatedAddress>('reader', 'POST', '/api/people/me/calendar');
  assert.equal(created.status, 201);
  assert.match(created.json.path, /^\/oncall\/[\w-]{43}\.ics$/);
  const events = await readEvents(app, created.json.path);
  assert.ok(events.length >= 14, `${events.length} shifts of half a year`);
  const { json } = await app.request<{ data: Entry[] }>('GET', '/api/rotations/ops/calendar');
  const expected = json.data.filter(({ person }) => person === 'reader');
  for (const { startsAt, endsAt } of expected) {
    const event = events.find(({ start: begin }) => begin === Date.parse(startsAt));
    assert.deepEqual([event?.end, event?.summary, event?.alarms], [Date.parse(endsAt), 'On call: ops', 1], startsAt);
  }
  const whole = await send<CreatedAddress>('reader', 'POST', '/api/rotations/ops/calendar-addresses');
  const all = await readEvents(app, whole.json.path);
  assert.ok(all.length >= 2 * events.length - 1 && all.some(({ summary }) => summary === 'admin: on call in ops'));
  assert.equal(new Set(all.map(({ uid }) => uid)).size, all.length);
});

test('an event keeps its UID while an override shortens the shift, and an unchanged calendar is not sent again', async (t) => {
  const { app, send } = await start(t);
  const { json: created } = await send<CreatedAddress>('admin', 'POST', '/api/rotations/ops/calendar-addresses');
  const before = await readEvents(app, created.path);
  const next = before.find((event) => event.start > Date.now());
  assert.ok(next);
  const reply = await fetch(app.url + created.path);
  const tag = reply.headers.get('etag') ?? '';
  assert.equal(reply.headers.get('content-type'), 'text/calendar; charset=utf-8');
  await reply.text();
  const read = async () => (await fetch(app.url + created.path, { headers: { 'if-none-match': tag } })).status;
  assert.equal(await read(), 304);
  const member = next.summary.startsWith('admin') ? 'reader' : 'admin';
  await send('admin', 'POST', '/api/oncall/overrides', {
    rotation: 'ops',
    member,
    startsAt: new Date(next.start).toISOString(),
    endsAt: new Date(next.start + hourMs).toISOString(),
  });
  assert.equal(await read(), 200);
  const after = await readEvents(app, created.path);
  const shortened = after.find(({ uid }) => uid === next.uid);
  assert.deepEqual([shortened?.start, shortened?.end], [next.start + hourMs, next.end]);
});

const weeks = { handover: { every: '1 week' } };
for (const [what, layer] of Object.entries({
  'long shifts': { people: ['anna', 'ben'], handover: { every: '20 weeks' }, from: '2026-01-05' },
  'one person without a beginning': { ...weeks, people: ['anna'] },
  'two shifts of a person': { ...weeks, people: ['anna', 'anna', 'ben'], from: '2026-01-05' },
})) {
  test(`each part of a shift keeps its UID while earlier parts leave the calendar: ${what}`, async () => {
    const override = (id: string, first: number, last: number) => ({
      id,
      rotation: 'ops',
      member: 'ben',
      startsAt: Date.UTC(2026, 0, first),
      endsAt: Date.UTC(2026, 0, last),
    });
    const overrides = [override('x', 7, 8), override('y', 8, 9), override('z', 20, 23), override('inner', 21, 22)];
    const rotation = toPeopleRotation('ops', { timeZone: 'UTC', layers: [layer] }).with(overrides);
    const known = new Map<number, string>();
    for (let day = 1; day < 90; day += 1) {
      const now = Date.UTC(2026, 0, day);
      const { text } = await writeFeed('ops', [rotation], 'anna', { now, changedAt: 0 });
      const events = new ICAL.Component(ICAL.parse(text))
        .getAllSubcomponents('vevent')
        .map((each) => new ICAL.Event(each));
      assert.equal(new Set(events.map(({ uid }) => uid)).size, events.length);
      for (const { uid, endDate } of events.slice(0, -1)) {
        const end = endDate.toJSDate().getTime();
        assert.equal(uid, known.get(end) ?? uid);
        known.set(end, uid);
      }
    }
    assert.ok(known.size >= 2, 'the calendar has several parts');
  });
}

test('addresses are listed without secrets and can be revoked, and wrong secrets get 404', async (t) => {
  const { app, send } = await start(t);
  const { json: created } = await send<CreatedAddress>('reader', 'POST', '/api/people/me/calendar');
  const { json: list } = await send('admin', 'GET', '/api/people/reader/calendar');
  assert.equal(list['count'], 1);
  assert.doesNotMatch(JSON.stringify(list), /path|sha256|oncall/);
  assert.equal((await send('reader', 'GET', '/api/people/admin/calendar')).status, 403);
  assert.equal((await send('reader', 'POST', '/api/people/admin/calendar')).status, 403);
  assert.equal((await send('admin', 'POST', '/api/people/zed/calendar')).status, 404);
  assert.equal((await app.request('POST', '/api/people/me/calendar')).status, 401);
  const { json: whole } = await send<CreatedAddress>('admin', 'POST', '/api/rotations/ops/calendar-addresses');
  const other = `/api/rotations/ops/calendar-addresses/${whole.id}`;
  assert.equal((await send('reader', 'DELETE', other)).status, 403);
  assert.equal((await send('admin', 'DELETE', other)).status, 200);
  assert.equal((await send('reader', 'DELETE', `/api/people/me/calendar/${created.id}`)).status, 200);
  const wrong = `/oncall/${'A'.repeat(43)}.ics`;
  for (const path of [created.path, whole.path, wrong, '/oncall/x.ics', '/oncall/%00', '/oncall/.ics']) {
    assert.equal((await app.request('GET', path)).status, 404, path);
  }
  await app.close();
});

test('a user can create at most 50 calendar addresses', async (t) => {
  const { app, send } = await start(t);
  const create = (by: 'admin' | 'reader') => send(by, 'POST', '/api/people/me/calendar');
  for (let count = 0; count < 50; count += 1) assert.equal((await create('reader')).status, 201);
  assert.equal((await create('reader')).status, 409);
  assert.equal((await create('admin')).status, 201);
  await app.close();
});

const hasRadicale = spawnSync('radicale', ['--version']).status === 0;

test("Debian's Radicale stores a calendar and returns all of its events", {
  skip: hasRadicale ? false : 'radicale is not installed',
}, async (t) => {
  const { app, send } = await start(t);
  const { json: created } = await send<CreatedAddress>('admin', 'POST', '/api/rotations/ops/calendar-addresses');
  const port = await findFreePort();
  const folder = createFolder(t);
  const args = ['--server-hosts', `127.0.0.1:${port}`, '--storage-filesystem-folder', join(folder, 'collections')];
  const radicale = spawn('radicale', ['--config', '', ...args, '--auth-type', 'none'], { stdio: 'ignore' });
  t.after(() => radicale.kill());
  const address = `http://127.0.0.1:${port}`;
  const ofAdmin = { authorization: `Basic ${btoa('admin:')}` };
  await waitUntil('Radicale listens', async () => (await fetch(address).catch(() => undefined)) !== undefined);
  const text = await (await fetch(app.url + created.path)).text();
  const headers = { ...ofAdmin, 'content-type': 'text/calendar; charset=utf-8' };
  const stored = await fetch(`${address}/admin/oncall/`, { method: 'PUT', headers, body: text });
  assert.equal(stored.status, 201, await stored.text());
  const returned = await readEvents({ url: address }, '/admin/oncall/');
  const sent = await readEvents(app, created.path);
  const byUid = (all: typeof sent) => all.toSorted((one, two) => (one.uid < two.uid ? -1 : 1));
  assert.deepEqual(byUid(returned), byUid(sent));
});
