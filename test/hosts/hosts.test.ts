import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startApp } from '../support/app.ts';
import { openEvents } from '../support/events.ts';
import { createFolder } from '../support/folder.ts';
import { amount } from '../support/long.ts';
import { waitUntil } from '../support/wait.ts';
import { createReport, enrol, readHost, report } from './support/hosts.ts';

test('a code enrols one host once, and its key reports for that host only', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const { status, json } = await app.request('POST', '/api/hosts', { token, body: { name: 'web-1', tags: ['web'] } });
  assert.equal(status, 201);
  assert.ok(Date.parse(json['expiresAt'] as string) > Date.now() + 29 * 60_000);
  const body = { code: json['code'] };
  const both = await Promise.all([1, 2].map(() => app.request('POST', '/api/hosts/enrol', { body })));
  assert.deepEqual(both.map((each) => each.status).toSorted(), [201, 403]);
  const refused = both.find((each) => each.status === 403);
  assert.match(refused?.json['error'] as string, /unknown, was used, or is older than 30 minutes/);
  const key = both.find((each) => each.status === 201)?.json['key'] as string;
  assert.equal((await report(app, key, 'web-1')).status, 200);
  const other = await report(app, key, 'web-2');
  assert.deepEqual([other.status, other.json['error']], [403, 'This key can report only as web-1']);
  const host = await readHost(app, token, 'web-1');
  assert.equal(host.state, 'up');
  assert.deepEqual(host.tags, ['web']);
  assert.equal(host.readings?.cpu, 0.5);
  assert.equal(host.hostname, 'web-1.example.org');
  assert.equal(host.version, '1.2.0');
  assert.equal((await app.request('GET', '/api/hosts', { token: key })).status, 403);
  assert.equal((await app.request('POST', '/api/alert', { token: key, body: { message: 'a' } })).status, 200);
});

test('a code created 31 minutes ago is refused', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const { json } = await app.request('POST', '/api/hosts', { token, body: { name: 'web-1' } });
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 31 * 60_000 });
  const { status } = await app.request('POST', '/api/hosts/enrol', { body: { code: json['code'] } });
  assert.equal(status, 403);
});

test('only an administrator or a key with hosts:create can create codes', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const reader = await app.login('reader');
  const body = { name: 'web-1' };
  assert.equal((await app.request('POST', '/api/hosts', { body })).status, 401);
  assert.equal((await app.request('POST', '/api/hosts', { token: reader, body })).status, 403);
  const created = await app.request('POST', '/api/keys', { token, body: { name: 'ops', scopes: ['hosts:create'] } });
  const ops = created.json['key'] as string;
  assert.equal((await app.request('POST', '/api/hosts', { token: ops, body })).status, 201);
});

test('a report is refused if its host name has a line break, is malformed, or belongs to another key', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await app.request('POST', '/api/keys', { token, body: { name: 'grafana', scopes: ['alerts:write'] } });
  for (const [name, status] of [
    ['web\n1', 400],
    ['', 400],
    ['enrol', 400],
    ['a/b', 400],
    ['w'.repeat(65), 400],
    ['grafana', 409],
  ] as const) {
    assert.equal((await app.request('POST', '/api/hosts', { token, body: { name } })).status, status, name);
  }
});

test('deleting a host deletes its history, and its key is refused', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  await report(app, key, 'web-1');
  assert.equal((await app.request('DELETE', '/api/hosts/web-1', { token })).status, 200);
  assert.equal((await report(app, key, 'web-1')).status, 401);
  assert.equal((await app.request('GET', '/api/hosts/web-1', { token })).status, 404);
  const again = await enrol(app, token, 'web-1');
  assert.equal((await readHost(app, token, 'web-1')).state, 'new');
  assert.equal((await report(app, again, 'web-1')).status, 200);
});

test('a host that is enrolled again gets a new key, and its old key is refused', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const first = await enrol(app, token, 'web-1');
  const second = await enrol(app, token, 'web-1');
  assert.equal((await report(app, first, 'web-1')).status, 401);
  assert.equal((await report(app, second, 'web-1')).status, 200);
});

test("an administrator can change a host's tags and note", async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await enrol(app, token, 'web-1');
  const changed = await app.request('PATCH', '/api/hosts/web-1', { token, body: { tags: ['eu'], note: 'rack 4' } });
  assert.equal(changed.status, 200);
  const { tags, note } = await readHost(app, token, 'web-1');
  assert.deepEqual([tags, note], [['eu'], 'rack 4']);
  const reader = await app.login('reader');
  assert.equal((await app.request('PATCH', '/api/hosts/web-1', { token: reader, body: { tags: [] } })).status, 403);
  assert.equal((await app.request('PATCH', '/api/hosts/web-1', { token, body: { tag: [] } })).status, 400);
});

test('two changes of a host at the same time both hold, and If-Match refuses a change of an old version', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await enrol(app, token, 'web-1');
  const path = '/api/hosts/web-1';
  const before = (await app.request('GET', path, { token })).headers['etag'] ?? '';
  const change = async (body: object) => (await app.request('PATCH', path, { token, body })).status;
  assert.deepEqual(await Promise.all([change({ tags: ['eu'] }), change({ note: 'rack 4' })]), [200, 200]);
  const { tags, note } = await readHost(app, token, 'web-1');
  assert.deepEqual([tags, note], [['eu'], 'rack 4']);
  const headers = { 'if-match': before };
  assert.equal((await app.request('PATCH', path, { token, headers, body: { note: '' } })).status, 412);
});

test('the list and events of hosts contain the numbers of heartbeats, and a single host the heartbeats', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  const events = await openEvents(t, app.url, 'hosts', { token });
  const heartbeats = (['down', 'late', 'up'] as const).map((state) => ({ name: `is-${state}`, state, pingAge: 60 }));
  await report(app, key, 'web-1', { heartbeats });
  const { json } = await app.request<{ data: Record<string, unknown>[] }>('GET', '/api/hosts', { token });
  const [event] = await events.waitFor('hosts');
  const host = await readHost(app, token, 'web-1');
  const toCounts = (shown: Record<string, unknown> = {}) => [shown['heartbeatCount'], shown['heartbeatProblems']];
  assert.deepEqual([json.data[0], event?.data, { ...host }].map(toCounts), [
    [3, 2],
    [3, 2],
    [3, 2],
  ]);
  for (const shown of [json.data[0], event?.data]) assert.ok(shown && !('heartbeats' in shown));
  assert.deepEqual(
    host.heartbeats.map(({ name }) => name),
    ['is-down', 'is-late', 'is-up'],
  );
});

test('a report can be compressed, and a report of 10 MB or with a line break in a name is refused', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  const send = (body: Uint8Array<ArrayBuffer> | string, headers: Record<string, string> = {}) =>
    fetch(`${app.url}/api/hosts/web-1/readings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body,
    });
  const text = JSON.stringify(createReport('web-1'));
  assert.equal((await send(gzipSync(text), { 'content-encoding': 'gzip' })).status, 200);
  const large = JSON.stringify({ ...createReport('web-1'), more: 'x'.repeat(10_000_000) });
  assert.equal((await send(gzipSync(large), { 'content-encoding': 'gzip' })).status, 413);
  assert.equal((await report(app, key, 'web-1', { hostname: 'a\nb' })).status, 400);
  assert.equal((await report(app, key, 'web-1', { time: 'yesterday' })).status, 400);
  assert.equal((await readHost(app, token, 'web-1')).hostname, 'web-1.example.org');
});

test("unknown members in a newer host's report are ignored", async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  const body = { ...createReport('web-1'), readings: { cpu: 0.1, quanta: 5 }, news: ['a'] };
  assert.equal((await app.request('POST', '/api/hosts/web-1/readings', { token: key, body })).status, 200);
  assert.equal((await readHost(app, token, 'web-1')).readings?.cpu, 0.1);
});

test("unknown members in a newer host's report are not stored, even if they are large", async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  const disk = { mountPath: '/', used: 1, total: 2, news: 'x'.repeat(100_000) };
  const body = {
    ...createReport('web-1'),
    readings: { cpu: 0.1, disks: [disk], news: 'x'.repeat(100_000) },
    news: 'x'.repeat(100_000),
  };
  assert.equal((await app.request('POST', '/api/hosts/web-1/readings', { token: key, body })).status, 200);
  assert.deepEqual((await readHost(app, token, 'web-1')).readings, {
    cpu: 0.1,
    disks: [{ mountPath: '/', used: 1, total: 2 }],
  });
});

test('a report that is too large to store gets 413 and a reason', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  const check = { watch: 'shop', thing: 'shop', state: 'bad' as const, text: 'x'.repeat(1900) };
  const { status, json } = await report(app, key, 'web-1', { checks: Array.from({ length: 100 }, () => check) });
  assert.equal(status, 413);
  assert.match(json['error'] as string, /^The report of host web-1 is too large/);
});

test('a report with too many disks, processes or stored minutes is refused', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  const { readings, time } = createReport('web-1');
  const disks = Array.from({ length: 33 }, (_, index) => ({ mountPath: `/${index}`, used: 1, total: 2 }));
  const kept = Array.from({ length: 61 }, () => ({ time, readings }));
  assert.equal((await report(app, key, 'web-1', { readings: { disks } })).status, 400);
  assert.equal((await report(app, key, 'web-1', { kept })).status, 400);
  assert.equal((await report(app, key, 'web-1', { readings: { cpu: -1 } })).status, 400);
});

test('a host that floods the hub gets 429, and another host does not', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const [one, other] = [await enrol(app, token, 'web-1'), await enrol(app, token, 'web-2')];
  const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await report(app, one, 'web-1')).status));
  assert.ok(statuses.includes(429));
  assert.equal((await report(app, other, 'web-2')).status, 200);
});

test('two machines that share a name and key are reported with their machine-ids', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  for (const machineId of ['machine-a', 'machine-b', 'machine-a']) await report(app, key, 'web-1', { machineId });
  const { duplicates } = await readHost(app, token, 'web-1');
  assert.deepEqual(duplicates.map(({ id }) => id).toSorted(), ['machine-a', 'machine-b']);
  await waitUntil('an alert names both', async () => {
    const { text } = await app.request('GET', '/api/alerts/search', { token });
    return text.includes('(machine-id machine-a)') && text.includes('(machine-id machine-b)');
  });
});

test("a host that floods the hub with alerts does not hold up another host's alerts or reports", async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const [one, other] = [await enrol(app, token, 'web-1'), await enrol(app, token, 'web-2')];
  const flood = Array.from({ length: amount(3000, 10_000) }, (_, index) =>
    app.request('POST', '/api/alert', { token: one, body: { message: `flood ${index}` } }).catch(() => undefined),
  );
  const begun = performance.now();
  await waitUntil('the report is accepted', async () => (await report(app, other, 'web-2')).status === 200);
  await waitUntil('the alert is stored', async () => {
    const { status } = await app.request('POST', '/api/alert', { token: other, body: { message: 'of web-2' } });
    return status === 200;
  });
  const ms = performance.now() - begun;
  assert.ok(ms < 10_000, `${ms} ms`);
  await Promise.all(flood);
});

test("a host's clock that is years off is shown, and does not shift its readings", async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  await report(app, key, 'web-1', {
    time: '2031-01-01T00:00:00Z',
    kept: [{ time: '2030-12-31T23:00:00Z', readings: { cpu: 0.9 } }],
  });
  assert.ok((await readHost(app, token, 'web-1')).clockSkewSeconds ?? 0 > 1e6);
  const { json } = await app.request<{ cpu: (number | null)[]; count: number }>(
    'GET',
    `/api/hosts/web-1/history?step=60&from=${Math.floor(Date.now() / 1000) - 7200}`,
    { token },
  );
  assert.equal(json.cpu.filter((value) => value === 0.9).length, 1);
  assert.ok(Math.abs(json.count - json.cpu.indexOf(0.9) - 60) <= 2);
});

test("a host's history and last state survive a restart", async (t) => {
  const dataDir = join(createFolder(t), 'data');
  const first = await startApp(t, { settings: { dataDir, keepSecrets: true } });
  const token = await first.login('admin');
  const key = await enrol(first, token, 'web-1');
  const processes = [
    {
      pid: 1,
      parentPid: 0,
      name: 'init',
      user: 'root',
      cpu: 0,
      cpuSeconds: 1,
      memoryBytes: 5,
      threads: 1,
      startedAt: null,
    },
  ];
  await report(first, key, 'web-1', { processes });
  await first.close();
  assert.equal(readFileSync(join(dataDir, 'hosts', 'web-1.host')).length < 4 * 1024 * 1024, true);
  const second = await startApp(t, { settings: { dataDir, keepSecrets: true } });
  const next = await second.login('admin');
  const host = await readHost(second, next, 'web-1');
  assert.deepEqual([host.state, host.readings?.cpu], ['up', 0.5]);
  const { json } = await second.request<{ cpu: number[]; disks: { mountPath: string; used: number[] }[] }>(
    'GET',
    '/api/hosts/web-1/history?step=10',
    { token: next },
  );
  assert.equal(json.cpu.filter((value) => value === 0.5).length, 1);
  assert.equal(json.disks[0]?.used.filter((value) => value === 10).length, 1);
  const listed = await second.request<{ data: { name: string }[] }>('GET', '/api/hosts/web-1/processes', {
    token: next,
  });
  assert.equal(listed.json.data[0]?.name, 'init');
});

test('the topic `hosts` sends a host after each of its reports', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  const client = await openEvents(t, app.url, 'hosts', { token });
  await report(app, key, 'web-1');
  const [event] = await client.waitFor('hosts');
  assert.equal(event?.data['name'], 'web-1');
});

test('the topic `hosts` sends hosts that are created, changed and deleted', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const client = await openEvents(t, app.url, 'hosts', { token });
  await app.request('POST', '/api/hosts', { token, body: { name: 'web-1' } });
  await app.request('PATCH', '/api/hosts/web-1', { token, body: { note: 'rack 4' } });
  await app.request('DELETE', '/api/hosts/web-1', { token });
  const events = await client.waitFor('hosts', 3);
  assert.deepEqual(
    events.map(({ data }) => [data['name'], data['note'], data['isDeleted']]),
    [
      ['web-1', '', undefined],
      ['web-1', 'rack 4', undefined],
      ['web-1', 'rack 4', true],
    ],
  );
});

test('the refusal of a report names the faulty part', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  const disk = { mountPath: '/', used: 1, total: 2 };
  const time = new Date().toISOString();
  for (const [more, message] of [
    [{ hostname: '' }, /^hostname must not be empty$/],
    [{ machineId: '' }, /^machineId must not be empty$/],
    [{ readings: { cpu: 1e18 } }, /^readings\.cpu must be at most 2$/],
    [{ kept: [{ time, readings: { pressureIo: 1e18 } }] }, /^kept\.0\.readings\.pressureIo must be at most 200$/],
    [{ readings: { disks: [disk, { ...disk, used: -1 }] } }, /^readings\.disks\.1\.used must be at least 0$/],
    [{ readings: { disks: [{ mountPath: '/' }] } }, /^readings\.disks\.0 must have used, total$/],
    [{ readings: { disks: [{ mountPath: '/', used: 1 }] } }, /^readings\.disks\.0\.total is required$/],
    [
      {
        kept: [
          { time, readings: {} },
          { time: 'yesterday', readings: {} },
        ],
      },
      /^kept\.1\.time must be an RFC 3339 time/,
    ],
  ] as [object, RegExp][]) {
    const { status, json } = await report(app, key, 'web-1', more);
    assert.equal(status, 400);
    assert.match(json['error'] as string, message);
  }
});

test('reading the history of a host that has never reported creates no file', async (t) => {
  const dataDir = createFolder(t);
  const app = await startApp(t, { settings: { dataDir } });
  const token = await app.login('admin');
  await app.request('POST', '/api/hosts', { token, body: { name: 'web-1' } });
  assert.equal((await app.request('GET', '/api/hosts/web-1/history', { token })).status, 200);
  assert.equal(existsSync(join(dataDir, 'hosts', 'web-1.host')), false);
});

test('a history without rows gets 200, an invalid step or time 400, and an unknown host 404', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await enrol(app, token, 'web-1');
  assert.equal((await app.request('GET', '/api/hosts/web-1/history', { token })).status, 200);
  for (const query of ['step=7', 'from=yesterday', 'from=20&until=10']) {
    assert.equal((await app.request('GET', `/api/hosts/web-1/history?${query}`, { token })).status, 400, query);
  }
  assert.equal((await app.request('GET', '/api/hosts/web-2/history', { token })).status, 404);
});

test('a host is up since its first report after a stop or a silence, not since its last report', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  await report(app, key, 'web-1');
  const { since } = await readHost(app, token, 'web-1');
  await report(app, key, 'web-1');
  assert.equal((await readHost(app, token, 'web-1')).since, since);
  await report(app, key, 'web-1', { isStopping: true });
  await report(app, key, 'web-1');
  assert.notEqual((await readHost(app, token, 'web-1')).since, since);
});

test('incidents of alerts with an alias as hostname count for the host, whose aliases no other host can have', async (t) => {
  const app = await startApp(t, { settings: { hosts: [{ name: 'db-1', aliases: ['postgres'] }] } });
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  await enrol(app, token, 'web-2');
  await report(app, key, 'web-1');
  const patch = (name: string, body: object) => app.request('PATCH', `/api/hosts/${name}`, { token, body });
  assert.equal((await patch('web-1', { aliases: ['www', 'Shop.example'] })).status, 200);
  assert.deepEqual((await patch('web-1', { note: 'rack 4' })).json['aliases'], ['www', 'Shop.example']);
  for (const [hostname, count] of [
    ['www', 1],
    ['shop.EXAMPLE', 2],
    ['web-1', 3],
    ['web-1.example.org', 4],
    ['web-2', 4],
  ] as const) {
    await app.request('POST', '/api/alert', { body: { level: 'ERROR', message: 'a', source: hostname, hostname } });
    await waitUntil(`${hostname} counts`, async () => (await readHost(app, token, 'web-1')).openIncidents === count);
  }
  const list = async (hostname: string) =>
    (await app.request<{ total: number }>('GET', `/api/incidents?hostname=${hostname}`, { token })).json.total;
  assert.deepEqual(await Promise.all(['WEB-1', 'www', 'web-2', 'none'].map(list)), [4, 1, 1, 0]);
  for (const alias of ['WWW', 'web-1', 'Postgres', 'db-1']) {
    const { status, json } = await patch('web-2', { aliases: [alias] });
    assert.deepEqual(
      [status, /^Host (web|db)-1 already has the name or alias /.test(json['error'] as string)],
      [409, true],
    );
  }
  for (const body of [{ aliases: ['a\nb'] }, { aliases: [''] }, { aliases: 'www' }, { tags: ['a\nb'] }])
    assert.equal((await patch('web-2', body)).status, 400, JSON.stringify(body));
});

test('an incident counts for the host with that name or alias before it counts for a machine that reports that host name', async (t) => {
  const app = await startApp(t, { settings: { hosts: [{ name: 'db-1', aliases: ['postgres'] }] } });
  const token = await app.login('admin');
  for (const [name, hostname] of [
    ['web-1', 'DB-1'],
    ['web-2', 'postgres'],
    ['web-3', 'shared'],
    ['web-4', 'shared'],
  ] as const) {
    await report(app, await enrol(app, token, name), name, { hostname });
  }
  for (const hostname of ['db-1', 'postgres', 'shared'])
    await app.request('POST', '/api/alert', { body: { level: 'ERROR', message: 'a', source: hostname, hostname } });
  await waitUntil('db-1 has both', async () => (await readHost(app, token, 'db-1')).openIncidents === 2);
  await waitUntil('web-4 has one', async () => (await readHost(app, token, 'web-4')).openIncidents === 1);
  const names = ['web-1', 'web-2', 'web-3'];
  const counts = await Promise.all(names.map(async (name) => (await readHost(app, token, name)).openIncidents));
  assert.deepEqual(counts, [0, 0, 1]);
});
