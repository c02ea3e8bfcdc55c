import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, type JsonResponse } from '../support/client.ts';
import { startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';

/** A body of the maximum size that is expensive to parse. */
const body = `{"Title":"x","filling":[${'0,'.repeat(500_000)}0]}`;

/** The number of clients that send it repeatedly. */
const count = 48;

const always = {
  'retry-after': '1',
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

test('requests above the event-loop delay limit get 503 with Retry-After, /health is served, and service resumes', async (t) => {
  const args = ['--profiles', 'T,M', '--max-event-loop-delay', '20'];
  const { url, request, stop } = await startProgram(t, args);
  const crowd = createClient(url, { connections: count });
  t.after(crowd.close);
  const refusals: JsonResponse<object>[] = [];
  const deadline = Date.now() + 60_000;
  const press = async (): Promise<void> => {
    while (refusals.length === 0 && Date.now() < deadline) {
      const response = await crowd.request('POST', '/api/tasks', { body });
      if (response.status === 503) refusals.push(response);
      else assert.equal(response.status, 201);
    }
  };
  const askHealth = async (): Promise<void> => {
    while (refusals.length === 0 && Date.now() < deadline) {
      for (const path of ['/health', '/api/health']) {
        assert.equal((await request('GET', path)).status, 200, path);
      }
    }
  };
  await Promise.all([askHealth(), ...Array.from({ length: count }, press)]);
  const [refusal] = refusals;
  for (const [name, value] of Object.entries(always)) assert.equal(refusal?.headers[name], value, name);
  assert.deepEqual(Object.keys(refusal?.json ?? {}), ['error']);
  await waitUntil('tasks are served again', async () => (await request('GET', '/api/tasks')).status === 200);
  assert.equal((await stop()).code, 0);
});
