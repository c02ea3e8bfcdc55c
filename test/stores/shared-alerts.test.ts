import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { createAccessKey } from '../../src/auth/access.ts';
import { Database } from '../../src/storage/postgres/database.ts';
import { DatabaseLog } from '../../src/storage/postgres/database-log.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { type EventClient, openEvents } from '../support/events.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runSql } from '../support/postgres/server.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { atEnd } from '../support/scope.ts';
import { waitUntil, waitUntilPasses } from '../support/wait.ts';

const skip = toSkipPostgres();

/** Starts another instance on the database. */
const start = (t: TestContext, store: string, settings: Record<string, unknown> = {}): Promise<TestApp> =>
  startApp(t, { settings: { store, timeZone: 'UTC', ...settings } });

const startTwo = async (t: TestContext): Promise<[TestApp, TestApp]> => {
  const url = await createDatabase(t);
  return [await start(t, url), await start(t, url)];
};

const send = async ({ request }: TestApp, body: object, headers: Record<string, string> = {}): Promise<string> => {
  const { status, json, text } = await request('POST', '/api/alert', { body, headers });
  assert.equal(status, 200, text);
  return json['id'] as string;
};

const list = async ({ request }: TestApp, path: string): Promise<Record<string, unknown>[]> => {
  const { status, json, text } = await request<{ data: Record<string, unknown>[] }>('GET', path);
  assert.equal(status, 200, text);
  return json.data;
};

/** Runs SQL in the database at the address. */
const sql = <Row extends object>(url: string, text: string): Promise<Row[]> => runSql<Row>(url, text);

const waitUntilEvent = async (stream: EventClient, message: string) => {
  const find = () => stream.events().find(({ data }) => data['message'] === message);
  await waitUntil(`the event ${message}`, () => find() !== undefined);
  const found = find();
  assert.ok(found);
  return found;
};

const messages = (alerts: readonly Record<string, unknown>[]) => alerts.map(({ message }) => message);

test('alerts of one instance are listed, searched, found and counted by another instance', { skip }, async (t) => {
  const [first, second] = await startTwo(t);
  const ids: string[] = [];
  for (const [index, level] of ['INFO', 'ERROR', 'INFO', 'ERROR'].entries()) {
    ids.push(await send(index % 2 ? second : first, { message: `${index}`, level, source: `s${index}` }));
  }
  assert.deepEqual(messages(await list(second, '/api/alerts')), ['0', '1', '2', '3']);
  assert.deepEqual(messages(await list(first, '/api/alerts?count=3&level=ERROR')), ['1', '3']);
  const found = await list(first, '/api/alerts/search?limit=3');
  assert.deepEqual(
    found.map(({ seq, id }) => [seq, id]),
    [4, 3, 2].map((seq) => [seq, ids[seq - 1]]),
  );
  const { json: page } = await first.request('GET', '/api/alerts/search?limit=3');
  assert.equal(page['next'], 2);
  assert.deepEqual(messages(await list(second, '/api/alerts/search?before=2')), ['0']);
  assert.deepEqual(messages(await list(second, '/api/alerts/search?level=INFO')), ['2', '0']);
  assert.deepEqual(messages(await list(second, '/api/alerts/search?source=s3&q=3')), ['3']);
  assert.deepEqual(messages(await list(second, '/api/alerts/search?since=2020-01-01T00:00:00Z&level=ERROR')), [
    '3',
    '1',
  ]);
  assert.deepEqual(messages(await list(second, '/api/alerts/search?until=2020-01-01T00:00:00Z')), []);
  const { json: details } = await second.request('GET', `/api/alerts/${ids[0]}`);
  assert.deepEqual([details['message'], details['seq'], details['instance']], ['0', 1, undefined]);
  assert.equal((await second.request('GET', `/api/alerts/${randomUUID()}`)).status, 404);
  const { json: histogram } = await second.request<{ complete: boolean; buckets: { count: number }[] }>(
    'GET',
    '/api/alerts/histogram?buckets=1',
  );
  assert.equal(histogram.complete, true);
  assert.deepEqual(
    histogram.buckets.map(({ count }) => count),
    [4],
  );
});

test('a time range with many alerts is read by seq, a range with few by time', {
  skip,
}, async (t) => {
  const url = await createDatabase(t);
  const app = await start(t, url);
  await send(app, { message: 'now' });
  // One alert per second in January 2026, a few of them with a rare level, and one older alert that was stored late.
  const body = `json_build_object('message', n::text, 'level', CASE WHEN n % 7000 = 0 THEN 'RARE' ELSE 'INFO' END)`;
  const [{ count } = { count: 0 }] = await sql<{ count: number }>(
    url,
    `INSERT INTO signalbox.alert (seq, id, at, instance, level, body)
     SELECT n + 1, gen_random_uuid(), 1767225600000 + n * 1000, 'x', CASE WHEN n % 7000 = 0 THEN 'RARE' ELSE 'INFO' END, ${body}
     FROM generate_series(1, 50000) AS n;
     INSERT INTO signalbox.alert (seq, id, at, instance, level, body)
     VALUES (50002, gen_random_uuid(), 1767225602500, 'x', 'INFO', '{"message":"late","level":"INFO"}');
     UPDATE signalbox.gate SET last_id = 50002 WHERE name = 'alert';
     SELECT count(*)::int AS count FROM signalbox.alert`,
  );
  assert.equal(count, 50_002);
  const few = '/api/alerts/search?since=2026-01-01T00:00:02Z&until=2026-01-01T00:00:04Z';
  assert.deepEqual(messages(await list(app, few)), ['late', '3', '2']);
  const many = '/api/alerts/search?since=2026-01-01T00:00:02Z&until=2026-02-01T00:00:00Z';
  assert.deepEqual(messages(await list(app, `${many}&limit=2`)), ['late', '50000']);
  assert.deepEqual(messages(await list(app, `${many}&level=RARE&limit=3`)), ['49000', '42000', '35000']);
  const pages: unknown[] = [];
  let next: unknown = 1e9;
  while (next !== null) {
    const { json } = await app.request<{ data: Record<string, unknown>[]; next: unknown }>(
      'GET',
      `${many}&level=RARE&limit=3&before=${next}`,
    );
    pages.push(...messages(json.data));
    next = json.next;
  }
  assert.deepEqual(pages, ['49000', '42000', '35000', '28000', '21000', '14000', '7000']);
  const counted = '/api/alerts/histogram?since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z&buckets=2&level=RARE';
  const { json } = await app.request<{ buckets: { count: number }[] }>('GET', counted);
  assert.deepEqual(
    json.buckets.map((bucket) => bucket.count),
    [6, 1],
  );
});

test('any text of an alert is returned unchanged, and any level is found', { skip }, async (t) => {
  const [first, second] = await startTwo(t);
  const texts = ['a\u0000b', '\ufffd', 'x'.repeat(65), 'x'.repeat(300_000), '"\\', '', '\u{1f600}'];
  for (const text of texts) await send(first, { source: text, level: text, message: text, hostname: 'h' });
  const all = await list(second, '/api/alerts');
  assert.deepEqual(
    all.map(({ source, level, message }) => [source, level, message]),
    texts.map((text) => [text, text, text]),
  );
  for (const level of ['a%00b', 'x'.repeat(65), '%22%5C', '%F0%9F%98%80']) {
    const text = decodeURIComponent(level);
    for (const path of ['/api/alerts', '/api/alerts/search']) {
      assert.deepEqual(messages(await list(second, `${path}?level=${level}`)), [text], JSON.stringify(text));
    }
  }
});

test('repeated alerts and requests with an Idempotency-Key are stored once by all instances', {
  skip,
}, async (t) => {
  const [first, second] = await startTwo(t);
  const headers = { 'idempotency-key': 'k' };
  const id = await send(first, { message: 'once' }, headers);
  assert.equal(await send(second, { message: 'once' }, headers), id);
  const other = await second.request('POST', '/api/alert', { body: { message: 'another' }, headers });
  assert.deepEqual([other.status, other.json['error']], [422, 'This Idempotency-Key was used for another alert']);
  const both = await Promise.all(
    [first, second].map((app) => send(app, { message: 'both' }, { 'idempotency-key': 'both' })),
  );
  assert.equal(both[0], both[1]);
  const event = (action: string) => ({
    routing_key: 'r',
    event_action: action,
    dedup_key: 'd',
    payload: { summary: action, source: 's', severity: 'error' },
  });
  for (const [app, action] of [
    [first, 'trigger'],
    [second, 'trigger'],
    [second, 'resolve'],
    [first, 'resolve'],
    [first, 'trigger'],
  ] as const) {
    assert.equal((await app.request('POST', '/api/alert/pagerduty', { body: event(action) })).status, 202);
  }
  const stored = (await list(first, '/api/alerts/search')).filter(({ format }) => format === 'pagerduty');
  assert.deepEqual(
    stored.map(({ status }) => status),
    ['firing', 'resolved', 'firing'],
  );
});

test('an alert that fires again with its former start after its resolution is stored again by any instance', {
  skip,
}, async (t) => {
  const [first, second] = await startTwo(t);
  const repeated: unknown[] = [];
  for (const status of ['firing', 'resolved', 'firing', 'resolved']) {
    const alerts = [{ status, labels: { alertname: 'a' }, fingerprint: 'f', startsAt: '2026-01-31T09:30:00Z' }];
    for (const app of [first, second]) {
      repeated.push((await app.request('POST', '/api/alert/alertmanager', { body: { alerts } })).json['repeated']);
    }
  }
  assert.deepEqual(repeated, [0, 1, 0, 1, 0, 1, 0, 1]);
  const [end, again] = await list(second, '/api/alerts/search');
  assert.deepEqual([end?.['status'], end?.['resolves']], ['resolved', again?.['id']]);
});

test('an alert sent to one instance appears on the stream of another instance, and streams can be resumed on either instance', {
  skip,
}, async (t) => {
  const [first, second] = await startTwo(t);
  await send(first, { message: 'before' });
  const stream = await openEvents(t, second.url, 'alerts');
  await stream.waitFor('hello');
  const sent = performance.now();
  await send(first, { message: 'one' });
  const events = await waitUntilEvent(stream, 'one');
  assert.ok(performance.now() - sent < 5000);
  stream.close();
  const { id } = events;
  await send(first, { message: 'two' });
  await send(second, { message: 'three' });
  for (const app of [second, first]) {
    const resumed = await openEvents(t, app.url, 'alerts', { lastEventId: id });
    const [two, three] = await resumed.waitFor('alerts', 2);
    assert.deepEqual([two?.data['message'], three?.data['message']], ['two', 'three']);
    assert.deepEqual(
      resumed.events().filter(({ name }) => name === 'resync'),
      [],
    );
    resumed.close();
  }
});

test('each instance delivers the alerts that it received', { skip }, async (t) => {
  const url = await createDatabase(t);
  const receivers = [await startReceiver(t), await startReceiver(t)];
  const apps = await Promise.all(
    receivers.map((receiver) =>
      start(t, url, { destinations: [{ name: 'hook', type: 'webhook', url: receiver.url }] }),
    ),
  );
  const [first, second] = apps as [TestApp, TestApp];
  const ids: string[] = [];
  for (let index = 0; index < 6; index += 1) ids.push(await send(index % 2 ? second : first, { message: `${index}` }));
  await waitUntil('all alerts are delivered', () => receivers.every(({ requests }) => requests.length >= 3));
  const delivered = receivers.map(({ requests }) =>
    requests.map(({ body }) => JSON.parse(body).message ?? JSON.parse(body).data?.message),
  );
  assert.deepEqual(delivered, [
    ['0', '2', '4'],
    ['1', '3', '5'],
  ]);
  const read = async (app: TestApp) =>
    (await app.request<{ deliveries: { status: string }[] }>('GET', `/api/alerts/${ids[0]}`)).json.deliveries;
  assert.deepEqual(await read(second), []);
  await waitUntil('the alert is shown as delivered', async () => (await read(first))[0]?.status === 'delivered');
});

test('the commands of one instance are in the list of another instance', { skip }, async (t) => {
  const [first, second] = await startTwo(t);
  const run = async (app: TestApp, command: string) =>
    (await app.request('POST', '/api/execute', { body: { command }, token: await app.login('admin') })).status;
  assert.equal(await run(first, 'Get-Process -Name node*'), 200);
  assert.equal(await run(second, 'Remove-Item /'), 403);
  const token = await second.login('admin');
  const { json } = await second.request<{ data: { decision: string }[] }>('GET', '/api/executions', { token });
  assert.deepEqual(
    json.data.map(({ decision }) => decision),
    ['allowed', 'refused'],
  );
});

test('alerts, commands and keys are deleted when they expire', { skip }, async (t) => {
  const url = await createDatabase(t);
  const first = await start(t, url);
  await send(first, { message: 'new' }, { 'idempotency-key': 'new' });
  const row = "gen_random_uuid(), 0, 'x', NULL, '{}' FROM generate_series(100, 2600) AS n";
  await sql(
    url,
    `INSERT INTO signalbox.alert SELECT n, ${row};
     INSERT INTO signalbox.audit SELECT n, ${row};
     INSERT INTO signalbox.repeat VALUES ('old', '', gen_random_uuid(), 0);
     INSERT INTO signalbox.idempotency VALUES ('old', '', '', now() - interval '25 hours'), ('new', '', '', now())`,
  );
  await start(t, url, { alertsRetainDays: 1, auditRetainDays: 1 });
  const count = async () => {
    const [row] = await sql<Record<string, number>>(
      url,
      `SELECT ${['alert', 'audit', 'repeat', 'idempotency'].map((table) => `(SELECT count(*)::int FROM signalbox.${table}) AS "${table}"`)}`,
    );
    return row;
  };
  const left = { alert: 1, audit: 0, repeat: 1, idempotency: 1 };
  await waitUntil('old rows are gone', async () => JSON.stringify(await count()) === JSON.stringify(left));
});

test('old alerts are deleted once a snapshot of the incidents has them, also without routes of incidents', {
  skip,
}, async (t) => {
  const url = await createDatabase(t);
  const profiles = ['alerts'];
  const first = await start(t, url, { profiles });
  await sql(
    url,
    `UPDATE signalbox.gate SET last_id = 20 WHERE name = 'alert';
     INSERT INTO signalbox.alert SELECT n, gen_random_uuid(), 0, 'x', NULL, '{}' FROM generate_series(10, 20) AS n`,
  );
  await send(first, { level: 'ERROR', message: 'new' });
  await first.close();
  await start(t, url, { profiles, alertsRetainDays: 1 });
  await waitUntilPasses(async () => {
    const rows = await sql<{ seq: string }>(url, 'SELECT seq FROM signalbox.alert');
    assert.deepEqual(
      rows.map(({ seq }) => +seq),
      [21],
    );
  }, 15_000);
});

test('on two instances a sender cannot suppress the alert of another sender, nor use up its Idempotency-Key', {
  skip,
}, async (t) => {
  const url = await createDatabase(t);
  const [low, high] = ['low', 'high'].map((name) => createAccessKey(name, ['alerts:write']));
  const settings = { keys: [low?.entry, high?.entry] };
  const [first, second] = [await start(t, url, settings), await start(t, url, settings)];
  const trigger = async (app: TestApp, token: string | undefined, summary: string): Promise<void> => {
    const body = { event_action: 'trigger', dedup_key: 'disk', payload: { summary, severity: 'critical' } };
    assert.equal((await app.request('POST', '/api/alert/pagerduty', { body, token })).status, 202);
  };
  await trigger(first, low?.key, 'fake');
  await trigger(second, high?.key, 'REAL');
  await trigger(first, high?.key, 'REAL, again');
  await trigger(second, low?.key, 'fake');
  assert.deepEqual(messages(await list(second, '/api/alerts')), ['fake', 'REAL']);
  const statuses: number[] = [];
  for (const [app, sender, message] of [
    [first, low, 'a'] as const,
    [second, high, 'b'] as const,
    [second, low, 'b'] as const,
  ]) {
    const headers = { 'Idempotency-Key': 'k' };
    statuses.push((await app.request('POST', '/api/alert', { body: { message }, token: sender?.key, headers })).status);
  }
  assert.deepEqual(statuses, [200, 200, 422]);
});

test('severity filters find alerts of any level, also levels that the column does not accept', {
  skip,
}, async (t) => {
  const [first, second] = await startTwo(t);
  const levels = ['crit', 'FATAL', 'err', 'warn', 'x'.repeat(100), 'a\u0000b', 'INFO'];
  for (const level of levels) await send(first, { message: level, level });
  const find = async (query: string) => messages(await list(second, `/api/alerts/search?${query}`)).toReversed();
  assert.deepEqual(await find('severity=critical'), ['crit', 'FATAL']);
  assert.deepEqual(await find('severity=WARNING'), levels.slice(3, 6));
  assert.deepEqual(await find('level=CRIT'), ['crit']);
  assert.deepEqual(await find('severity=ERROR&level=ERR&limit=1'), ['err']);
  for (let index = 0; index < 210; index += 1) await send(first, { message: 'other', level: `level ${index}` });
  assert.deepEqual(await find('severity=critical'), ['crit', 'FATAL']);
});

test('an alert of one instance is resolved by another instance, and both show the resolution', { skip }, async (t) => {
  const url = await createDatabase(t);
  const [first, second] = [await start(t, url), await start(t, url)];
  const key = 'backup/web-1';
  const firing = await send(first, { message: 'failed', level: 'CRITICAL', key });
  const end = await send(second, { message: 'works again', key, status: 'resolved' });
  const check = async (app: TestApp): Promise<void> => {
    const { json } = await app.request<Record<string, unknown>>('GET', `/api/alerts/${firing}`);
    assert.equal((json['resolvedBy'] as { id: string } | null)?.id, end);
    assert.equal((await app.request('GET', `/api/alerts/${end}`)).json['resolves'], firing);
  };
  for (const app of [first, second]) await waitUntilPasses(() => check(app));
  const [row] = await sql<{ body: string }>(url, `SELECT body FROM signalbox.alert WHERE id = '${end}'`);
  assert.equal(JSON.parse(row?.body ?? '{}').firingLevel, 'CRITICAL');
  const third = await start(t, url);
  await waitUntilPasses(() => check(third));
});

test('a firing alert is known after a restart, after any number of events', { skip }, async (t) => {
  const url = await createDatabase(t);
  const first = await start(t, url);
  const firing = await send(first, { message: 'failed', level: 'CRITICAL', key: 'backup' });
  await first.close();
  await sql(
    url,
    `INSERT INTO signalbox.alert_event SELECT n, gen_random_uuid(), 0, 'x', NULL, '{"feature":"other"}'
       FROM generate_series(101, 30000) AS n;
     UPDATE signalbox.gate SET last_id = 30000 WHERE name = 'alert'`,
  );
  const second = await start(t, url);
  const end = await send(second, { message: 'works again', key: 'backup', status: 'resolved' });
  await waitUntilPasses(async () => {
    assert.equal((await second.request('GET', `/api/alerts/${end}`)).json['resolves'], firing);
  });
});

test('a reminder is stored once by all instances, and only when it is due', { skip }, async (t) => {
  const url = await createDatabase(t);
  const clock = { now: Date.now() };
  const open = async (name: string) => {
    const identity = { instance: randomUUID(), name, version: '0' };
    const ignore = () => undefined;
    const common = { secret: 'x'.repeat(32), timeZone: 'UTC' };
    const database = new Database(url, identity, common, { report: ignore, onRefused: ignore, onCommit: ignore });
    atEnd(t, () => database.close());
    await database.check();
    database.begin();
    const options = { database, instance: name, clock: () => new Date(clock.now), retainDays: () => 0 };
    const log = await DatabaseLog.open({ ...options, table: 'alert' });
    return async (remindAfterMs: number | undefined) => {
      const key = { hash: 'h', state: 's', isOnce: false, remindAfterMs };
      const [placed] = await log.add([log.toNew({ message: 'm' }, key)]);
      return placed;
    };
  };
  const [first, second] = [await open('one'), await open('two')];
  const id = (await first(60_000))?.id;
  clock.now += 59_000;
  assert.deepEqual(await second(60_000), { id, seq: undefined, isRepeat: true });
  clock.now += 1000;
  assert.deepEqual(await second(undefined), { id, seq: undefined, isRepeat: true });
  assert.deepEqual(await second(60_000), { id, seq: 2, isRepeat: true });
  assert.deepEqual(await first(60_000), { id, seq: undefined, isRepeat: true });
  clock.now += 60_000;
  assert.deepEqual(await first(60_000), { id, seq: 3, isRepeat: true });
  const rows = await sql<{ body: string }>(url, 'SELECT body FROM signalbox.alert ORDER BY seq');
  assert.deepEqual(
    rows.map(({ body }) => JSON.parse(body).repeatOf),
    [undefined, id, id],
  );
});

test('by default a new database keeps alerts for 400 days, and a database older than this limit keeps all', {
  skip,
}, async (t) => {
  const [fresh, former] = [await createDatabase(t), await createDatabase(t)];
  const day = 24 * 60 * 60 * 1000;
  const addOld = (url: string, days: number) =>
    sql(
      url,
      `INSERT INTO signalbox.alert (seq, id, at, instance, level, body)
        VALUES (${1000 + days}, gen_random_uuid(), ${Date.now() - days * day}, 'x', 'INFO', '{"message":"${days}"}')`,
    );
  const first = await start(t, fresh, { alertsRetainDays: 0 });
  await first.close();
  await (await start(t, fresh)).close();
  for (const days of [399, 401]) await addOld(fresh, days);
  await start(t, fresh);
  const count = (url: string) => sql<{ body: string }>(url, 'SELECT body FROM signalbox.alert ORDER BY seq');
  await waitUntil('the older alert is deleted', async () => (await count(fresh)).length === 1);
  assert.equal((await count(fresh))[0]?.body, '{"message":"399"}');
  const second = await start(t, former, { alertsRetainDays: 0 });
  await send(second, { message: 'before the upgrade' });
  await second.close();
  await addOld(former, 4000);
  await start(t, former);
  const readDays = () =>
    sql<{ days: number }>(former, `SELECT last_id AS days FROM signalbox.gate WHERE name = 'alert_days'`);
  await waitUntil('the default is decided', async () => (await readDays()).length === 1);
  assert.deepEqual([Number((await readDays())[0]?.days), (await count(former)).length], [0, 2]);
});
