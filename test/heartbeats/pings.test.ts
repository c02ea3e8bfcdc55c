import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { pino } from 'pino';
import { createAccessKey } from '../../src/auth/access.ts';
import type { Heartbeat } from '../../src/features/heartbeats/schema.ts';
import { readIncident, waitForIncident } from '../incidents/support/incidents.ts';
import { startApp } from '../support/app.ts';
import { openEvents } from '../support/events.ts';
import { waitUntil } from '../support/wait.ts';
import { createHeartbeat, listRuns, ping, readHeartbeat } from './support/heartbeats.ts';

test('a job that pings is up, a failure opens an incident at once with the output, and the next success resolves the incident', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const { uuid, state } = await createHeartbeat(app, token, 'backup', {
    description: 'call Anna',
    tags: ['db', 'night'],
  });
  assert.equal(state, 'new');
  assert.deepEqual(await ping(app.url, uuid), { status: 200, text: 'OK' });
  const up = await readHeartbeat(app, 'backup');
  assert.deepEqual([up.state, up.uuid, up.lastRun?.result], ['up', null, 'success']);
  assert.equal(Date.parse(up.dueAt ?? '') - Date.parse(up.lastPingAt ?? ''), 3_600_000);
  const failed = await ping(app.url, `${uuid}/3`, { method: 'POST', body: 'line 1\r\n\x1b[31mdisk full\x00' });
  assert.deepEqual(failed, { status: 200, text: 'OK' });
  const incident = await waitForIncident(app, { source: 'heartbeat/backup' });
  assert.deepEqual(
    [incident.title, incident.level, incident.hostname, incident.labels, incident.sender],
    ['Heartbeat backup failed with exit code 3', 'ERROR', '', { heartbeat: 'backup', tags: 'db, night' }, 'signalbox'],
  );
  const { lastAlert } = await readIncident(app, incident.number);
  assert.deepEqual([lastAlert?.format, lastAlert?.details], ['heartbeat', 'call Anna\n\nline 1\ndisk full']);
  const down = await readHeartbeat(app, 'backup');
  assert.deepEqual([down.state, down.downReason, down.lastRun?.exitCode], ['down', 'failed', 3]);
  await ping(app.url, `${uuid}/0`);
  const resolved = await waitForIncident(app, { state: 'resolved' });
  assert.deepEqual([resolved.id, resolved.resolvedReason], [incident.id, 'sender']);
  assert.equal((await readHeartbeat(app, 'backup')).state, 'up');
});

test('GET, HEAD and POST have the same effect, and runs have start, duration, exit code and output', async (t) => {
  const app = await startApp(t);
  const { uuid } = await createHeartbeat(app, await app.login('admin'), 'job', { maxRunMinutes: 5 });
  const heads = await ping(app.url, `${uuid}/start`, { method: 'HEAD' });
  assert.deepEqual(heads, { status: 200, text: '' });
  assert.equal((await readHeartbeat(app, 'job')).state, 'running');
  await ping(app.url, `${uuid}/log`, { method: 'POST', body: 'half' });
  assert.equal((await listRuns(app, 'job'))[0]?.output, 'half');
  await ping(app.url, uuid, { method: 'POST', body: 'done' });
  await ping(app.url, `${uuid.toUpperCase()}/fail`);
  const runs = await listRuns(app, 'job');
  assert.deepEqual(
    runs.map(({ result, output, exitCode, durationMs }) => [result, output, exitCode, durationMs !== null]),
    [
      ['failure', null, null, false],
      ['success', 'done', null, true],
    ],
  );
});

test('rid keeps overlapping runs apart, and a repeated request is one run', async (t) => {
  const app = await startApp(t);
  const { uuid } = await createHeartbeat(app, await app.login('admin'), 'job');
  const [one, two] = [randomUUID(), randomUUID()];
  for (const path of [`start?rid=${one}`, `start?rid=${two}`, `0?rid=${one}`, `0?rid=${one}`, `start?rid=${one}`]) {
    assert.equal((await ping(app.url, `${uuid}/${path}`)).status, 200);
  }
  assert.deepEqual(
    (await listRuns(app, 'job')).map(({ rid, result }) => [rid, result]),
    [
      [two, 'running'],
      [one, 'success'],
    ],
  );
  assert.equal((await ping(app.url, `${uuid}/2?rid=${two}`)).status, 200);
  assert.equal((await readHeartbeat(app, 'job')).state, 'down');
});

test('any body of 100 KB is accepted, and its last 10,000 bytes are kept', async (t) => {
  const app = await startApp(t);
  const { uuid } = await createHeartbeat(app, await app.login('admin'), 'job');
  const bodies = [Buffer.alloc(100_000, 0xff), Buffer.from('é'.repeat(50_000)), Buffer.alloc(100_000, 0)];
  for (const body of bodies) assert.equal((await ping(app.url, uuid, { method: 'POST', body })).status, 200);
  const [nothing, accents, garbage] = await listRuns(app, 'job');
  assert.deepEqual([nothing?.output, accents?.output, garbage?.output?.length], [null, 'é'.repeat(5000), 10_000]);
  const { status } = await ping(app.url, uuid, { method: 'POST', body: Buffer.alloc(1_100_000) });
  assert.equal(status, 200);
});

test('a ping by name needs a token or a key with heartbeats:write, and heartbeats:create to create the heartbeat', async (t) => {
  const writer = createAccessKey('cron', ['heartbeats:write']);
  const creator = createAccessKey('setup', ['heartbeats:create']);
  const reader = createAccessKey('x', ['incidents:write']);
  const keys = [writer.entry, creator.entry, reader.entry];
  const app = await startApp(t, { settings: { keys, access: 'login' } });
  const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
  const token = await app.login('admin');
  const { uuid } = await createHeartbeat(app, token, 'job');
  assert.equal((await ping(app.url, uuid)).status, 200);
  assert.equal((await ping(app.url, 'job')).status, 401);
  assert.equal((await ping(app.url, 'job', as(reader.key))).status, 403);
  assert.equal((await ping(app.url, 'job', as(writer.key))).status, 200);
  assert.equal((await ping(app.url, 'other', as(writer.key))).status, 404);
  assert.equal((await ping(app.url, 'other?create=1', as(writer.key))).status, 403);
  assert.deepEqual(await ping(app.url, 'other?create=1', as(creator.key)), { status: 201, text: 'OK' });
  assert.deepEqual(await ping(app.url, 'other?create=1', as(writer.key)), { status: 200, text: 'OK' });
  const other = await readHeartbeat(app, 'other', token);
  assert.deepEqual([other.period, other.updatedBy, other.state], [86_400, 'key:setup', 'up']);
  assert.equal((await app.request('GET', '/api/heartbeats', { token: writer.key })).status, 403);
});

test('an invalid ping gets a 4xx with the reason', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const { uuid } = await createHeartbeat(app, token, 'job');
  const headers = { authorization: `Bearer ${token}` };
  const refused: [path: string, status: number, text: RegExp][] = [
    [`${uuid}/4294967296`, 400, /start, fail, log or a 32-bit exit code/],
    [`${uuid}/stop`, 400, /start, fail, log/],
    [`${uuid}?rid=1`, 400, /rid must be a UUID/],
    [randomUUID(), 404, /no heartbeat at this address/],
    ['a%20b?create=1', 400, /up to 64 letters/],
    [`${'x'.repeat(65)}?create=1`, 400, /up to 64 letters/],
    ['missing', 404, /add \?create=1 to create the heartbeat/],
  ];
  for (const [path, status, text] of refused) {
    const answer = await ping(app.url, path, { headers });
    assert.equal(answer.status, status, path);
    assert.match(answer.text, text);
  }
});

test('the secret address appears in no log, event or alert, and only in responses for Admins', async (t) => {
  let logged = '';
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      logged += chunk;
      done();
    },
  });
  const app = await startApp(t, { log: pino({ level: 'trace' }, stream) });
  const token = await app.login('admin');
  const { uuid } = await createHeartbeat(app, token, 'job');
  const events = await openEvents(t, app.url, 'heartbeats,alerts,incidents');
  await ping(app.url, `${uuid}/fail?rid=${randomUUID()}`);
  await ping(app.url, `${uuid}/300`);
  await ping(app.url, `%${uuid.charCodeAt(0).toString(16)}${uuid.slice(1)}`);
  await waitForIncident(app, { state: 'resolved' });
  await events.waitFor('heartbeats', 2);
  const reader = await app.login('reader');
  const texts: string[] = [logged, events.text()];
  for (const path of [
    '/api/heartbeats',
    '/api/heartbeats/job',
    '/api/heartbeats/job/runs',
    '/api/alerts',
    '/api/incidents',
  ]) {
    texts.push(JSON.stringify((await app.request('GET', path, { token: reader })).json));
  }
  texts.push(JSON.stringify((await app.request('GET', '/api/audit', { token })).json));
  for (const text of texts) assert.ok(!text.toLowerCase().includes(uuid), text);
  assert.match(logged, /ping/);
  const { json } = await app.request<{ data: { uuid: string }[] }>('GET', '/api/heartbeats', { token });
  assert.equal(json.data[0]?.uuid, uuid);
});

test('lists with ?runs have the last runs of each heartbeat, oldest first and without outputs', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const { uuid } = await createHeartbeat(app, token, 'job');
  for (const signal of ['start', '0', 'log', 'fail', 'start'])
    await ping(app.url, `${uuid}/${signal}`, { method: 'POST', body: 'x' });
  const list = async (query: string) => {
    const { status, json } = await app.request<{ data: Heartbeat[] }>('GET', `/api/heartbeats${query}`);
    assert.equal(status, 200);
    return json.data[0]?.recentRuns;
  };
  assert.equal(await list(''), undefined);
  const runs = (await list('?runs=10')) ?? [];
  assert.deepEqual(
    runs.map(({ result }) => result),
    ['success', 'failure', 'running'],
  );
  assert.deepEqual(Object.keys(runs[0] ?? {}), ['at', 'durationMs', 'result']);
  assert.ok(typeof runs[0]?.durationMs === 'number' && runs[1]?.durationMs === null);
  for (const { at } of runs) assert.ok(Math.abs(Date.now() - Date.parse(at)) < 60_000, at);
  assert.equal((await list('?runs=2'))?.length, 2);
  assert.equal((await app.request('GET', '/api/heartbeats?runs=101')).status, 400);
});

test('an exit code is any integer of 32 bits, and 0 is success', async (t) => {
  const app = await startApp(t);
  const { uuid } = await createHeartbeat(app, await app.login('admin'), 'job');
  for (const code of [3_221_225_786, -1_073_741_510, 256, 4_294_967_295, -2_147_483_648, 1]) {
    assert.equal((await ping(app.url, `${uuid}/${code}`)).status, 200, `${code}`);
    const { state, lastRun } = await readHeartbeat(app, 'job');
    assert.deepEqual([state, lastRun?.result, lastRun?.exitCode], ['down', 'failure', code]);
  }
  for (const code of ['0', '-0', '000']) {
    assert.equal((await ping(app.url, `${uuid}/${code}`)).status, 200, code);
    const { state, lastRun } = await readHeartbeat(app, 'job');
    assert.deepEqual([state, lastRun?.result, lastRun?.exitCode], ['up', 'success', 0]);
  }
  for (const wrong of ['4294967296', '-2147483649', '1.5', '--1', '1e3', 'stop']) {
    const { status, text } = await ping(app.url, `${uuid}/${wrong}`);
    assert.equal(status, 400, wrong);
    assert.match(text, /start, fail, log or a 32-bit exit code/);
  }
});

test('a ping with a body of any size counts, and the end of the body is kept', async (t) => {
  const app = await startApp(t);
  const { uuid } = await createHeartbeat(app, await app.login('admin'), 'job');
  const line = 'a line of output\n';
  const large = `${line.repeat(200_000)}the end`;
  assert.ok(large.length > 3 * 1024 * 1024);
  assert.equal((await ping(app.url, `${uuid}/7`, { method: 'POST', body: large })).status, 200);
  const [failed] = await listRuns(app, 'job');
  assert.deepEqual([failed?.exitCode, failed?.output?.endsWith('output\nthe end')], [7, true]);
  assert.ok(Number(failed?.output?.length) <= 10_000);
  // A chunked body without a declared length.
  async function* stream() {
    for (let count = 0; count < 1000; count += 1) yield Buffer.from('ö');
    for (let count = 0; count < 30; count += 1) yield Buffer.alloc(100_000, '.');
    yield Buffer.from('and öut');
  }
  const options = { method: 'POST', body: stream(), duplex: 'half' } as unknown as RequestInit;
  assert.equal((await ping(app.url, uuid, options)).status, 200);
  const [streamed] = await listRuns(app, 'job');
  assert.deepEqual([streamed?.result, streamed?.output?.endsWith('...and öut')], ['success', true]);
});

test('a heartbeat without pings is down after its first period and grace, also across restarts', async (t) => {
  const configured = { name: 'configured', period: 10, grace: 1 };
  const first = await startApp(t, { settings: { heartbeats: [configured] } });
  const token = await first.login('admin');
  const runtime = await createHeartbeat(first, token, 'runtime', { period: 10, grace: 1 });
  assert.equal(runtime.state, 'new');
  const readDue = async (app: typeof first, name: string) => {
    const { state, dueAt } = await readHeartbeat(app, name);
    assert.equal(state, 'new');
    return dueAt;
  };
  await waitUntil('the first ping is expected', async () => (await readHeartbeat(first, 'configured')).dueAt !== null);
  const due = [await readDue(first, 'configured'), await readDue(first, 'runtime')];
  assert.equal(Date.parse(due[1] ?? '') - Date.parse(runtime.updatedAt ?? ''), 10_000);
  await first.close();
  const settings = { heartbeats: [configured], dataDir: join(first.folder, 'data') };
  const app = await startApp(t, { settings });
  assert.deepEqual([await readDue(app, 'configured'), await readDue(app, 'runtime')], due);
  await app.request('DELETE', '/api/heartbeats/runtime', { token });
  await waitUntil('the heartbeat is down', async () => (await readHeartbeat(app, 'configured')).downReason !== null);
  const { downReason, lastPingAt, dueAt } = await readHeartbeat(app, 'configured');
  assert.deepEqual([downReason, lastPingAt, dueAt], ['late', null, due[0]]);
  const incident = await waitForIncident(app, { source: 'heartbeat/configured' });
  assert.match(incident.title, /^Heartbeat configured is late: due at .*, no success yet$/);
});
