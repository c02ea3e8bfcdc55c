import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startApp, startRefusal, type TestApp } from '../../../../test/support/app.ts';
import { createFolder } from '../../../../test/support/folder.ts';
import { dayMs, hourMs } from '../../../lib/units.ts';

const password = 'correct horse battery';
const weekly = { every: '1 week', at: 'Mon 09:00' };
const ops = { timeZone: 'Europe/Berlin', layers: [{ people: ['anna', 'ben'], handover: weekly }] };

const inHours = (hours: number): string => new Date(Date.now() + hours * hourMs).toISOString();

interface OverrideRow {
  id: string;
  member: string;
  startsAt: string;
  endsAt: string;
  covered: boolean;
  inReturn: { member: string; startsAt: string; endsAt: string } | null;
}

interface Entry {
  person: string | null;
  layer: number | null;
  override: string | null;
  gap: boolean;
  startsAt: string | null;
  endsAt: string | null;
}

/** Starts an app with the Readers anna, ben and carl. Returns functions that send requests as one of the users. */
const start = async (t: TestContext, settings: object = {}) => {
  const app = await startApp(t, { settings });
  const admin = await app.login('admin');
  const tokens: Record<string, string> = { admin };
  for (const name of ['anna', 'ben', 'carl']) {
    const body = { name, role: 'Reader', password };
    await app.request('POST', '/api/users', { token: admin, body });
    const { json } = await app.request<{ token: string }>('POST', '/api/auth/login', {
      body: { Username: name, Password: password },
    });
    tokens[name] = json.token;
  }
  const as = (user: string) => ({
    send: <T = Record<string, unknown>>(method: string, path: string, body?: object, headers = {}) =>
      app.request<T>(method, path, { token: tokens[user] ?? '', headers, ...(body && { body }) }),
  });
  return { app, as, admin: as('admin') };
};

const read = async ({ request }: Pick<TestApp, 'request'>, name = 'ops') =>
  (
    await request<{ data: { rotation: string; member: string | null; next: { member: string } | null }[] }>(
      'GET',
      '/api/oncall',
    )
  ).json.data.find(({ rotation }) => rotation === name);

const calendar = async ({ request }: Pick<TestApp, 'request'>, name = 'ops', query = '') =>
  (await request<{ data: Entry[] }>('GET', `/api/rotations/${name}/calendar${query}`)).json.data;

test('an Admin creates, replaces and deletes a rotation of people, with versions', async (t) => {
  const { app, admin, as } = await start(t);
  const created = await admin.send('PUT', '/api/rotations/ops', ops);
  assert.equal(created.status, 201, JSON.stringify(created.json));
  assert.equal(created.headers['etag'], `"${created.json['version']}"`);
  assert.deepEqual(
    [
      created.json['name'],
      created.json['origin'],
      created.json['kind'],
      created.json['timeZone'],
      created.json['layers'],
    ],
    ['ops', 'made', 'person', 'Europe/Berlin', ops.layers],
  );
  const present = await read(app);
  assert.ok(['anna', 'ben'].includes(present?.member ?? ''));
  const replaced = await admin.send('PUT', '/api/rotations/ops', created.json, {
    'if-match': `"${created.json['version']}"`,
  });
  assert.equal(replaced.status, 200, 'a response can be sent back');
  assert.equal((await admin.send('PUT', '/api/rotations/ops', ops, { 'if-match': '"1"' })).status, 412);
  assert.equal((await as('anna').send('PUT', '/api/rotations/ops', ops)).status, 403);
  assert.equal((await as('anna').send('DELETE', '/api/rotations/ops')).status, 403);
  assert.equal((await app.request('GET', '/api/rotations')).json['count'], 1);
  const { json: audit } = await admin.send<{ data: { kind: string; name: string }[] }>('GET', '/api/audit');
  assert.ok(audit.data.some(({ kind, name }) => kind === 'rotation' && name === 'ops'));
  assert.equal((await admin.send('DELETE', '/api/rotations/ops')).status, 200);
  assert.equal((await app.request('GET', '/api/rotations/ops')).status, 404);
  assert.equal(await read(app), undefined);
});

test('a rotation of nobody, of unknown people or with impossible times is refused, and changes nothing', async (t) => {
  const { app, admin } = await start(t);
  const [layer] = ops.layers;
  for (const [body, problem] of [
    [{ ...ops, layers: [] }, /layers/],
    [{ ...ops, layers: [{ ...layer, people: [] }] }, /^people is empty: name at least one user$/],
    [
      { ...ops, layers: [{ ...layer, people: ['anna', 'zed'] }] },
      /There is no user "zed"; the users are: admin, anna, ben, carl, reader/i,
    ],
    [{ ...ops, layers: [{ ...layer, people: [{ name: 'anna', till: '2026-01-01' }] }] }, /till|people/],
    [{ ...ops, layers: [{ ...layer, hour: 'Mon 08:00-09:00' }] }, /layers.0 has unknown keys; remove hour/],
    [
      { ...ops, layers: [{ ...layer, handover: { every: '1 week', at: '25:00' } }] },
      /handover.at must be a time such as "Mon 09:00"/,
    ],
    [{ ...ops, layers: [{ ...layer, handover: { every: '* * * * *' } }] }, /at most hourly/],
    [{ ...ops, timeZone: 'Mars/Olympus' }, /timeZone must be a name such as Europe\/Berlin or UTC/],
    [{ ...ops, timezone: 'UTC' }, /timezone is unknown; did you mean timeZone|timezone/],
    [{ layers: 'anna' }, /layers/],
    [{ ...ops, name: 'other' }, /name is other, but the path has ops/],
  ] as const) {
    const refused = await admin.send('PUT', '/api/rotations/ops', body);
    assert.equal(refused.status, 400, JSON.stringify([body, refused.json]));
    assert.match(String(refused.json['error']), problem);
  }
  assert.equal((await admin.send('PUT', '/api/rotations/-x', ops)).status, 400);
  assert.equal((await app.request('GET', '/api/rotations')).json['count'], 0);
});

test('rotations of destinations are shown as one layer, and are changed only in the config file', async (t) => {
  const destinations = ['a-phone', 'b-phone'].map((name) => ({
    name,
    type: 'webhook',
    url: 'http://127.0.0.1:9/',
    notify: 'incidents',
  }));
  const former = { name: 'old', members: ['a-phone', 'b-phone'], handover: '0 9 * * 1', timeZone: 'UTC' };
  const rotations = [former, { ...former, name: 'later', startsAt: '2026-03-04' }];
  const { app, admin } = await start(t, { destinations, rotations });
  const { json } = await app.request<Record<string, unknown>>('GET', '/api/rotations/old');
  assert.deepEqual(
    [json['origin'], json['kind'], json['timeZone'], json['layers']],
    ['config', 'destination', 'UTC', [{ people: former.members, handover: { every: '0 9 * * 1' } }]],
  );
  const later = (await app.request<{ layers: { from: string }[] }>('GET', '/api/rotations/later')).json;
  assert.equal(later.layers[0]?.from, '2026-03-09T09:00:00.000Z');
  const refused = await admin.send('PUT', '/api/rotations/old', ops);
  assert.equal(refused.status, 409);
  assert.match(String(refused.json['error']), /Rotation old is defined in the config file: edit it there/);
  assert.equal((await admin.send('DELETE', '/api/rotations/old')).status, 409);
  const entries = await calendar(app, 'old');
  assert.deepEqual([entries[0]?.layer, entries[0]?.gap], [0, false]);
});

test('the config file has rotations of people in the form of requests', async (t) => {
  const users = { rotations: [{ name: 'ops', ...ops, layers: [{ people: ['admin', 'reader'], handover: weekly }] }] };
  const { app, admin } = await start(t, users);
  assert.ok(['admin', 'reader'].includes((await read(app))?.member ?? ''));
  assert.equal((await app.request('GET', '/api/rotations/ops')).json['kind'], 'person');
  assert.equal((await admin.send('PUT', '/api/rotations/ops', ops)).status, 409);
  for (const [rotation, problem] of [
    [{ name: 'ops', ...ops }, /rotation "ops": there is no user "anna"; create the user, or remove the name/],
    [{ name: 'ops', ...ops, timeZone: 'Mars' }, /rotation "ops": timeZone must be a name such as Europe\/Berlin/],
    [{ name: 'ops', layers: [] }, /layers must not be empty/],
    [{ name: 'ops', ...ops, members: ['a'] }, /rotation "ops": members and layers cannot be combined/],
    [{ name: 'ops' }, /rotation "ops": set either layers, or members and handover/],
  ] as const) {
    assert.match(await startRefusal(t, { settings: { rotations: [rotation] } }), problem);
  }
});

test('the calendar has each shift with its person and layer, and gaps', async (t) => {
  const { app, admin } = await start(t);
  const year = new Date().getUTCFullYear();
  await admin.send('PUT', '/api/rotations/ops', {
    timeZone: 'UTC',
    layers: [
      { people: ['anna'], handover: weekly, hours: 'Mon-Fri 00:00-24:00' },
      { people: ['ben'], handover: weekly, hours: 'Mon-Fri 20:00-22:00' },
    ],
  });
  const found = await calendar(app, 'ops', `?from=${year}-06-01T00:00:00Z&until=${year}-06-15T00:00:00Z`);
  assert.ok(
    found.some(({ gap, person, layer, startsAt, endsAt }) => {
      const length = Date.parse(`${endsAt}`) - Date.parse(`${startsAt}`);
      return (
        gap && person === null && layer === null && length === 2 * dayMs && new Date(`${startsAt}`).getUTCDay() === 6
      );
    }),
  );
  assert.ok(
    found.some(
      ({ person, layer, startsAt, endsAt }) =>
        person === 'ben' && layer === 1 && Date.parse(`${endsAt}`) - Date.parse(`${startsAt}`) === 2 * hourMs,
    ),
  );
  for (const [index, entry] of found.slice(1).entries()) assert.equal(entry.startsAt, found[index]?.endsAt);
  for (const query of ['?from=soon', '?until=1999-01-01T00:00:00Z', `?until=${inHours(401 * 24)}`]) {
    assert.equal((await app.request('GET', `/api/rotations/ops/calendar${query}`)).status, 400, query);
  }
  assert.equal((await app.request('GET', '/api/rotations/none/calendar')).status, 404);
});

test('a Reader can take over shifts and give away own shifts, but cannot change shifts between other people', async (t) => {
  const { app, admin, as } = await start(t);
  await admin.send('PUT', '/api/rotations/ops', ops);
  const present = (await read(app))?.member ?? '';
  const other = present === 'anna' ? 'ben' : 'anna';
  const body = { rotation: 'ops', member: 'carl', endsAt: inHours(1) };
  const refused = await as(other).send('POST', '/api/oncall/overrides', body);
  assert.equal(refused.status, 403);
  assert.match(
    String(refused.json['error']),
    /Only Admins can change the shifts of other people\. You can take over a shift yourself/,
  );
  const given = await as(present).send<OverrideRow>('POST', '/api/oncall/overrides', body);
  assert.equal(given.status, 201, 'gives away');
  assert.equal((await read(app))?.member, 'carl');
  const path = `/api/oncall/overrides/${given.json.id}`;
  assert.equal((await as(other).send('DELETE', path)).status, 403);
  const taken = await as(other).send<OverrideRow>('POST', '/api/oncall/overrides', { ...body, member: other });
  assert.equal(taken.status, 201, 'takes');
  assert.equal((await read(app))?.member, other);
  assert.equal((await as('carl').send('DELETE', path)).status, 200, 'gives back');
  const year = await as(present).send('POST', '/api/oncall/overrides', { ...body, endsAt: inHours(24 * 20) });
  assert.equal(year.status, 403, 'a range with shifts of others');
  assert.equal((await admin.send('POST', '/api/oncall/overrides', body)).status, 201);
  const unknown = await admin.send('POST', '/api/oncall/overrides', { ...body, member: 'zed' });
  assert.deepEqual([unknown.status, unknown.json['error']], [400, 'There is no user "zed"']);
});

test('one request swaps two shifts, and one request ends the swap', async (t) => {
  const { app, admin, as } = await start(t);
  await admin.send('PUT', '/api/rotations/ops', { ...ops, timeZone: 'UTC' });
  const [, second, third] = await calendar(app);
  const [one, two] = [second?.person ?? '', third?.person ?? ''];
  const swap = {
    rotation: 'ops',
    member: two,
    startsAt: second?.startsAt,
    endsAt: second?.endsAt,
    inReturn: { startsAt: third?.startsAt, endsAt: third?.endsAt },
  };
  assert.equal((await as('carl').send('POST', '/api/oncall/overrides', swap)).status, 403);
  const created = await as(one).send<OverrideRow>('POST', '/api/oncall/overrides', swap);
  assert.equal(created.status, 201, JSON.stringify(created.json));
  assert.deepEqual(
    (await calendar(app)).slice(1, 3).map(({ person, override }) => [person, override]),
    [
      [two, created.json.id],
      [one, created.json.id],
    ],
  );
  const wrong = await admin.send('POST', '/api/oncall/overrides', { ...swap, member: 'carl' });
  assert.match(String(wrong.json['error']), /inReturn must be a period in which "carl" is on call/);
  const long = await admin.send('POST', '/api/oncall/overrides', { ...swap, startsAt: inHours(0) });
  assert.match(String(long.json['error']), /You can swap only a period in which exactly one other person is on call/);
  assert.equal((await as(two).send('DELETE', `/api/oncall/overrides/${created.json.id}`)).status, 200);
  assert.deepEqual(
    (await calendar(app)).slice(1, 3).map(({ person }) => person),
    [one, two],
  );
});

test('the older of two overlapping overrides is marked as covered', async (t) => {
  const { app, admin } = await start(t);
  await admin.send('PUT', '/api/rotations/ops', ops);
  const create = async (member: string, from: number, until: number) => {
    const body = { rotation: 'ops', member, startsAt: inHours(from), endsAt: inHours(until) };
    return (await admin.send<OverrideRow>('POST', '/api/oncall/overrides', body)).json;
  };
  const first = await create('carl', 10, 20);
  await create('carl', 20, 30);
  assert.equal(first.covered, false);
  const last = await create('ben', 15, 18);
  const { json } = await app.request<{ data: OverrideRow[] }>('GET', '/api/oncall/overrides');
  assert.deepEqual(
    json.data.map(({ covered }) => covered),
    [false, false, true],
  );
  const entries = (
    await calendar(app, 'ops', `?from=${encodeURIComponent(inHours(11))}&until=${encodeURIComponent(inHours(19))}`)
  ).map(({ person, override }) => [person, override]);
  assert.deepEqual(entries, [
    ['carl', first.id],
    ['ben', last.id],
    ['carl', first.id],
  ]);
});

test('the shifts of a deleted user pass to the next person immediately, and the rotation survives a restart', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  const { app, admin } = await start(t, { dataDir });
  await admin.send('PUT', '/api/rotations/ops', ops);
  const present = (await read(app))?.member ?? '';
  assert.equal((await admin.send('DELETE', `/api/users/${present}`)).status, 200);
  const other = present === 'anna' ? 'ben' : 'anna';
  assert.equal((await read(app))?.member, other);
  await app.close();
  const next = await startApp(t, { settings: { dataDir } });
  assert.equal((await read(next))?.member, other);
  const { json } = await next.request<{ data: { member: string }[] }>('GET', '/api/oncall');
  assert.equal(json.data.length, 1);
});
