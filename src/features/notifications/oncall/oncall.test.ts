import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp, startRefusal, type TestApp } from '../../../../test/support/app.ts';
import { openEvents } from '../../../../test/support/events.ts';
import { createFolder } from '../../../../test/support/folder.ts';
import { dayMs } from '../../../lib/units.ts';

interface OnCallRow {
  rotation: string;
  member: string;
  members: string[];
  startsAt: string | null;
  endsAt: string | null;
  override: { id: string; member: string } | null;
  next: { member: string; startsAt: string } | null;
}

const destination = (name: string) => ({ name, type: 'webhook', url: 'http://127.0.0.1:9/', notify: 'incidents' });
const destinations = ['anna', 'ben', 'carl'].map(destination);
const weekly = { name: 'oncall', members: ['anna', 'ben'], handover: '0 9 * * 1', timeZone: 'Europe/Berlin' };
const settings = { destinations, rotations: [weekly, { ...weekly, name: 'backup', members: ['carl'] }] };

const inDays = (days: number): string => new Date(Date.now() + days * dayMs).toISOString();

const read = async ({ request }: Pick<TestApp, 'request'>, query = '') =>
  (await request<{ count: number; data: OnCallRow[] }>('GET', `/api/oncall${query}`)).json.data;

const override = async (app: Pick<TestApp, 'request'>, token: string, body: object) =>
  app.request<Record<string, unknown>>('POST', '/api/oncall/overrides', { token, body });

test('members take turns on call, with handovers at the same local time when clocks change', async (t) => {
  const app = await startApp(t, { settings });
  const year = new Date().getUTCFullYear();
  const [oncall, backup] = await read(app, `?at=${year}-03-31T12:00:00%2B02:00`);
  assert.equal(oncall?.rotation, 'oncall');
  assert.deepEqual(oncall?.members, ['anna', 'ben']);
  assert.notEqual(oncall?.member, oncall?.next?.member);
  assert.match(`${oncall?.startsAt} ${oncall?.endsAt}`, /T0[78]:00:00\.000Z .*T07:00:00\.000Z$/);
  assert.deepEqual([backup?.member, backup?.endsAt, backup?.next], ['carl', null, null]);
  const summer = await read(app, `?at=${year}-07-01T00:00:00Z`);
  const later = await read(app, `?at=${summer[0]?.endsAt}`);
  assert.equal(later[0]?.member, summer[0]?.next?.member);
  assert.equal(Date.parse(`${later[0]?.startsAt}`) - Date.parse(`${summer[0]?.startsAt}`), 7 * dayMs);
});

test('without rotations nobody is listed', async (t) => {
  assert.deepEqual(await read(await startApp(t)), []);
});

test('an override puts another member on call until it ends, and deleting it ends it', async (t) => {
  const app = await startApp(t, { settings });
  const token = await app.login('reader');
  const [before] = await read(app);
  const member = before?.member === 'anna' ? 'ben' : 'anna';
  const created = await override(app, token, { rotation: 'oncall', member, endsAt: inDays(1), comment: 'swapped' });
  assert.equal(created.status, 201);
  assert.equal(created.headers['etag'], `"${created.json['version']}"`);
  assert.deepEqual([created.json['createdBy'], created.json['comment']], ['reader', 'swapped']);
  const [now] = await read(app);
  assert.deepEqual([now?.member, now?.override?.id], [member, created.json['id']]);
  const path = `/api/oncall/overrides/${created.json['id']}`;
  assert.equal((await app.request('DELETE', path, { token, headers: { 'if-match': '"999"' } })).status, 412);
  const ended = await app.request<Record<string, string>>('DELETE', path, { token });
  assert.equal(ended.status, 200);
  assert.ok(Date.parse(ended.json['endsAt'] ?? '') <= Date.now());
  const [after] = await read(app);
  assert.deepEqual([after?.member, after?.override], [before?.member, null]);
  const { json } = await app.request<{ data: { id: string }[] }>('GET', '/api/oncall/overrides');
  assert.deepEqual(
    json.data.map(({ id }) => id),
    [created.json['id']],
    'what has begun stays listed',
  );
  assert.equal((await app.request('DELETE', path, { token })).status, 200);
});

test('listeners get changes of overrides, with the access of the route', async (t) => {
  const app = await startApp(t, { settings: { ...settings, access: { oncall: 'admin' } } });
  const [token, reader] = [await app.login('admin'), await app.login('reader')];
  assert.equal((await openEvents(t, app.url, 'oncall', { token: reader })).status, 403);
  const events = await openEvents(t, app.url, 'oncall', { token });
  const created = await override(app, token, { rotation: 'oncall', member: 'carl', endsAt: inDays(1) });
  const [event] = await events.waitFor('oncall');
  assert.deepEqual(event?.data, (await app.request('GET', '/api/oncall', { token })).json);
  await app.request('DELETE', `/api/oncall/overrides/${created.json['id']}`, { token });
  const [, ended] = await events.waitFor('oncall', 2);
  assert.deepEqual((ended ?? assert.fail()).data, (await app.request('GET', '/api/oncall', { token })).json);
});

test('an override that has not begun is in the schedule until it is removed', async (t) => {
  const app = await startApp(t, { settings });
  const token = await app.login('admin');
  const times = { startsAt: inDays(30), endsAt: inDays(31) };
  const { json } = await override(app, token, { rotation: 'oncall', member: 'carl', ...times });
  const schedule = async () => {
    const query = new URLSearchParams({ from: inDays(0), to: inDays(60), rotation: 'oncall' });
    return (await app.request<{ data: OnCallRow[] }>('GET', `/api/oncall/schedule?${query}`)).json.data;
  };
  const shifts = await schedule();
  const index = shifts.findIndex(({ member }) => member === 'carl');
  assert.deepEqual(shifts[index], { rotation: 'oncall', member: 'carl', ...times, override: json['id'] });
  assert.equal(shifts[index - 1]?.endsAt, times.startsAt);
  assert.equal(shifts[index + 1]?.startsAt, times.endsAt);
  for (const [before, shift] of shifts.slice(0, -1).map((each, at) => [each, shifts[at + 1]]))
    assert.equal(before?.endsAt, shift?.startsAt);
  await app.request('DELETE', `/api/oncall/overrides/${json['id']}`, { token });
  assert.ok((await schedule()).every(({ member }) => member !== 'carl'));
  assert.equal((await app.request('DELETE', `/api/oncall/overrides/${json['id']}`, { token })).status, 404);
});

test('of two overlapping overrides, the newest counts', async (t) => {
  const app = await startApp(t, { settings });
  const token = await app.login('admin');
  for (const member of ['anna', 'ben', 'carl']) {
    await override(app, token, { rotation: 'oncall', member, endsAt: inDays(1) });
    assert.equal((await read(app))[0]?.member, member);
  }
});

test('overrides survive a restart', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  const first = await startApp(t, { settings: { ...settings, dataDir } });
  const token = await first.login('admin');
  const { json } = await override(first, token, { rotation: 'oncall', member: 'carl', endsAt: inDays(1) });
  await first.close();
  const second = await startApp(t, { settings: { ...settings, dataDir } });
  const [row] = await read(second);
  assert.deepEqual([row?.member, row?.override], ['carl', json]);
});

test('an override of an unknown rotation or member, or at an impossible time, is refused with instructions', async (t) => {
  const app = await startApp(t, { settings });
  const token = await app.login('admin');
  const good = { rotation: 'oncall', member: 'ben', endsAt: inDays(1) };
  for (const [body, error] of [
    [{ ...good, rotation: 'night' }, /There is no rotation "night"; the rotations are: oncall, backup/],
    [{ ...good, member: 'zed' }, /"zed" is not a member of a rotation; the members are: anna, ben, carl/],
    [{ ...good, endsAt: inDays(-1) }, /endsAt must be in the future/],
    [{ ...good, startsAt: inDays(2) }, /endsAt must be after startsAt/],
    [{ ...good, endsAt: 'Thursday' }, /endsAt must be an RFC 3339 time/],
    [{ ...good, endsAt: '9000-01-01T00:00:00Z' }, /endsAt must be within five years of now/],
    [{ ...good, comment: 'x'.repeat(4001) }, /comment/],
    [{ rotation: 'oncall', member: 'ben' }, /endsAt/],
  ] as const) {
    const answer = await override(app, token, body);
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.match(String(answer.json['error']), error);
  }
  assert.equal((await app.request('POST', '/api/oncall/overrides', { body: good })).status, 401);
  for (const [path, error] of [
    ['/api/oncall?at=soon', /at must be an RFC 3339 time/],
    ['/api/oncall?at=1970-01-01T00:00:00Z', /at must be within five years/],
    [`/api/oncall/schedule?to=${inDays(401)}`, /to must be at most 400 days after from/],
    [`/api/oncall/schedule?to=${inDays(-1)}`, /to must be after from/],
  ] as const) {
    const answer = await app.request<{ error: string }>('GET', path);
    assert.equal(answer.status, 400, path);
    assert.match(answer.json.error, error);
  }
});

test('a schedule with too many shifts is refused, but half a year of hourly shifts is not', async (t) => {
  const rotations = [{ name: 'oncall', members: ['anna', 'ben'], handover: '0 * * * *' }];
  const { request } = await startApp(t, { settings: { destinations, rotations } });
  const year = await request<{ error: string }>('GET', `/api/oncall/schedule?to=${inDays(399)}`);
  assert.equal(year.status, 400);
  assert.match(year.json.error, /more than 5000 shifts: request a shorter period/);
  const half = await request<{ count: number }>('GET', `/api/oncall/schedule?to=${inDays(182)}`);
  assert.ok(Math.abs(half.json.count - 182 * 24) <= 1);
});

test('a startup with invalid rotations is refused with instructions', async (t) => {
  const members = ['anna', 'dora', 'log'];
  const alerts = { ...destination('log'), notify: 'alerts' };
  const message = await startRefusal(t, {
    settings: { destinations: [...destinations, alerts], rotations: [{ ...weekly, members, handover: '0 9 * *' }] },
  });
  assert.match(message, /rotation "oncall": there is no destination "dora"; the settings define: anna, ben, carl, log/);
  assert.match(
    message,
    /member "log" is a destination that gets every alert: set notify of the destination to incidents/,
  );
  assert.match(message, /handover must be a cron expression such as "0 9 \* \* 1": .*must have five fields/);
});

test('the schedule of a rotation with one member has an override that begins after many handovers', async (t) => {
  const hourly = { name: 'hourly', members: ['anna', 'anna'], handover: '0 * * * *' };
  const alone = { ...weekly, name: 'alone', members: ['carl'] };
  const app = await startApp(t, { settings: { destinations, rotations: [hourly, alone, weekly] } });
  const token = await app.login('admin');
  const [from, to] = [inDays(60), inDays(61)];
  for (const rotation of ['hourly', 'alone']) {
    const created = await override(app, token, { rotation, member: 'ben', startsAt: from, endsAt: to });
    assert.equal(created.status, 201);
    const { json } = await app.request<{ data: OnCallRow[] }>('GET', `/api/oncall/schedule?to=${inDays(90)}`);
    const shifts = json.data.filter((shift) => shift.rotation === rotation);
    const member = rotation === 'hourly' ? 'anna' : 'carl';
    assert.deepEqual(
      shifts.map((shift) => [shift.member, shift.startsAt, shift.endsAt]),
      [
        [member, null, from],
        ['ben', from, to],
        [member, to, null],
      ],
    );
    const row = (await read(app)).find((each) => each.rotation === rotation);
    assert.deepEqual([row?.member, row?.next?.member, row?.next?.startsAt], [member, 'ben', from]);
  }
});
