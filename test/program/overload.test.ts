import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, type JsonResponse } from '../support/client.ts';
import { startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';

/** Body of maximum size that is expensive to parse. */
const body = `{"Title":"x","filling":[${'0,'.repeat(500_000)}0]}`;

/** Number of clients that send the body repeatedly. */
const count = 48;

const always = {
  'retry-after': '1',
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** Paths that end like the paths of health checks. */
const likeHealthChecks = ['/api/alert/ready', '/api/alert/readyz', '/api/alert/livez', '/api/alert/health'];

test('requests above the event-loop delay limit get 503 with Retry-After, health checks are served, and service resumes', async (t) => {
  const args = ['--profiles', 'T,M,alerts', '--max-event-loop-delay', '20'];
  const { url, request, stop } = await startProgram(t, args);
  const crowd = createClient(url, { connections: count });
  t.after(crowd.close);
  const refusals: JsonResponse<object>[] = [];
  const refused = new Set<string>();
  const deadline = Date.now() + 50_000;
  const isOver = (): boolean => Date.now() > deadline || refused.size > likeHealthChecks.length;
  const press = async (): Promise<void> => {
    while (!isOver()) {
      const response = await crowd.request('POST', '/api/tasks', { body });
      if (response.status === 503) {
        refusals.push(response);
        refused.add('/api/tasks');
      } else assert.equal(response.status, 201);
    }
  };
  const alert = async (path: string): Promise<void> => {
    while (!isOver()) {
      const { status } = await request('POST', path, { body: { message: 'x' } });
      if (status === 503) refused.add(path);
      else assert.equal(status, 404);
    }
  };
  const askHealth = async (): Promise<void> => {
    while (!isOver()) {
      for (const path of ['/health', '/livez', '/api/health']) {
        assert.equal((await request('GET', path)).status, 200, path);
      }
    }
  };
  await Promise.all([askHealth(), ...likeHealthChecks.map(alert), ...Array.from({ length: count }, press)]);
  assert.deepEqual([...refused].sort(), [...likeHealthChecks, '/api/tasks'].sort());
  const [refusal] = refusals;
  for (const [name, value] of Object.entries(always)) assert.equal(refusal?.headers[name], value, name);
  assert.deepEqual(Object.keys(refusal?.json ?? {}), ['error']);
  await waitUntil('tasks are served again', async () => (await request('GET', '/api/tasks')).status === 200);
  assert.equal((await stop()).code, 0);
});
