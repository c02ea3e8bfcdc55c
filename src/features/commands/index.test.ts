import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../../../test/support/app.ts';

test('commands need role Admin, and every token can list the allowed commands', async (t) => {
  const app = await startApp(t);
  const reader = await app.login('reader');
  const post = { body: { command: 'Get-Process -Id 1' } };
  assert.equal((await app.request('POST', '/api/execute', post)).status, 401);
  assert.equal((await app.request('POST', '/api/execute', { ...post, token: reader })).status, 403);
  assert.equal((await app.request('GET', '/api/commands')).status, 401);
  assert.equal((await app.request('GET', '/api/commands', { token: reader })).status, 200);
  assert.equal((await app.request('GET', '/api/executions')).status, 401);
  assert.equal((await app.request('GET', '/api/executions', { token: reader })).status, 403);
});

test('with executeAuth none anyone may run commands, and only Admin may read the audit', async (t) => {
  const app = await startApp(t, { settings: { executeAuth: 'none' } });
  assert.match(String(app.notices), /can use POST \/api\/execute and GET \/api\/commands without a token/);
  const { status } = await app.request('POST', '/api/execute', { body: { command: 'Get-Process -Id 1' } });
  assert.equal(status, 200);
  assert.equal((await app.request('GET', '/api/commands')).status, 200);
  assert.equal((await app.request('GET', '/api/executions')).status, 401);
  const token = await app.login('admin');
  const { json } = await app.request<{ data: Record<string, unknown>[] }>('GET', '/api/executions', {
    token,
  });
  const [{ user, role, exit } = {} as Record<string, unknown>] = json.data;
  assert.deepEqual([user, role, exit], [null, null, 'ok']);
});
