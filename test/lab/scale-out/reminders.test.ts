import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passwords } from '../../support/credentials.ts';
import { toSkipPostgres } from '../../support/postgres/installation.ts';
import { createDatabase } from '../../support/postgres/shared-server.ts';
import { answer, startReceiver } from '../../support/receiver.ts';
import { waitUntil } from '../../support/wait.ts';
import { startInstances } from './support/instances.ts';

const patienceMs = 60_000;
const text = 'Your shift in ops begins in';

test('a reminder that a receiver has not accepted is sent by the other instance after a kill, and accepted once', {
  skip: toSkipPostgres(),
}, async (t) => {
  const receiver = await startReceiver(t, answer(503));
  const { all } = await startInstances(t, { store: await createDatabase(t) });
  const [one, other] = all;
  assert.ok(other);
  const send = async (url: string, method: string, path: string, body: object, token?: string) => {
    const headers = {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
    assert.ok(response.ok, `${method} ${path}: ${response.status}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const login = { Username: 'admin', Password: passwords.admin };
  const token = String((await send(one.url, 'POST', '/api/auth/login', login))['token']);
  const way = { type: 'webhook', url: `${receiver.url}/admin` };
  await send(one.url, 'PUT', '/api/people/admin/ways/phone', way, token);
  const from = new Date(Date.now() + 40 * 60_000).toISOString();
  const layers = [{ people: ['admin'], handover: { every: '1 week' }, from }];
  await send(one.url, 'PUT', '/api/rotations/ops', { layers }, token);
  const attempts = () => receiver.requests.filter(({ body }) => body.includes(text)).length;
  await waitUntil('the first attempt', () => attempts() > 0, patienceMs);
  // Only the database knows which instance sends, so both are killed in turn.
  for (const killed of [one, other]) {
    await killed.stop('SIGKILL');
    const before = attempts();
    await waitUntil('another attempt', () => attempts() > before, patienceMs);
    await killed.start();
  }
  const failures = attempts();
  receiver.behave(answer(200));
  await waitUntil('the reminder is accepted', () => attempts() > failures, patienceMs);
  // Each instance checks for due messages every ten seconds.
  const accepted = attempts();
  const tests = () => receiver.requests.length - attempts();
  const known = tests();
  for (const end = performance.now() + 12_000; performance.now() < end; ) {
    await send(one.url, 'POST', '/api/people/admin/ways/phone/test', {}, token);
    await waitUntil('the test arrives', () => tests() > known, patienceMs);
  }
  assert.equal(attempts(), accepted);
});
