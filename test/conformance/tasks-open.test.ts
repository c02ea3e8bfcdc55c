import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { assertJson } from './support/assertions.ts';
import { startTasks } from './support/tasks.ts';

test('the task routes need no token and ignore an invalid one', async (t) => {
  const app = await startTasks(t);
  for (const token of [undefined, '', 'nonsense', 'a.b.c']) {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const created = await app.request('POST', '/api/tasks', { body: { Title: 'x' }, headers });
    assertJson(created, 201);
    const path = `/api/tasks/${created.json['Id']}`;
    assertJson(await app.request('GET', '/api/tasks', { headers }), 200);
    assertJson(await app.request('GET', path, { headers }), 200);
    assertJson(await app.request('PUT', path, { body: {}, headers }), 200);
    assertJson(await app.request('DELETE', path, { headers }), 200);
  }
});

test('GET /api/health returns status, timestamp, version, machine and pwsh, in this order', async (t) => {
  const app = await startTasks(t);
  const answer = await app.request('GET', '/api/health');
  assertJson(answer, 200);
  assert.deepEqual(Object.keys(answer.json), ['status', 'timestamp', 'version', 'machine', 'pwsh']);
  assert.equal(answer.json['status'], 'healthy');
  assert.match(String(answer.json['version']), /^\d+\.\d+\.\d+/);
  assert.equal(answer.json['machine'], hostname());
});

test('the timestamp of /api/health is UTC with milliseconds, yyyy-MM-ddTHH:mm:ss.fffZ', async (t) => {
  const app = await startTasks(t);
  const earliest = new Date().toISOString();
  const timestamp = String((await app.request('GET', '/api/health')).json['timestamp']);
  assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.ok(earliest <= timestamp && timestamp <= new Date().toISOString(), timestamp);
});

test('pwsh in the /api/health of tasks is the version of Node.js', async (t) => {
  const app = await startTasks(t);
  assert.equal((await app.request('GET', '/api/health')).json['pwsh'], process.versions.node);
});
