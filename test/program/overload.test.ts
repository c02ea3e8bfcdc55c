import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFolder } from '../support/app.ts';
import { startProgram } from '../support/program.ts';

/** As large as a body may be, and much work to read. */
const body = `{"Title":"x","filling":[${'0,'.repeat(500_000)}0]}`;

/** Clients that send it again and again. */
const count = 48;

const always = {
  'retry-after': '1',
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

test('past the bound of arrears requests are 503 with Retry-After, health is answered, and then all is well again', async (t) => {
  const args = ['--profiles', 'T,M', '--max-event-loop-delay', '20'];
  const { url, stop } = await startProgram(t, args, { cwd: createFolder(t) });
  const refusals: Response[] = [];
  const deadline = Date.now() + 60_000;
  const press = async (): Promise<void> => {
    while (refusals.length === 0 && Date.now() < deadline) {
      const answer = await fetch(`${url}/api/tasks`, { method: 'POST', body });
      if (answer.status === 503) refusals.push(answer);
      else assert.equal(answer.status, 201);
      await answer.clone().text();
    }
  };
  const askHealth = async (): Promise<void> => {
    while (refusals.length === 0 && Date.now() < deadline) {
      for (const path of ['/health', '/api/health']) {
        assert.equal((await fetch(`${url}${path}`)).status, 200, path);
      }
    }
  };
  await Promise.all([askHealth(), ...Array.from({ length: count }, press)]);
  const [refusal] = refusals;
  for (const [name, value] of Object.entries(always)) assert.equal(refusal?.headers.get(name), value, name);
  assert.deepEqual(Object.keys((await refusal?.json()) as object), ['error']);
  let status = 0;
  while (status !== 200 && Date.now() < deadline) status = (await fetch(`${url}/api/tasks`)).status;
  assert.equal(status, 200);
  assert.equal((await stop()).code, 0);
});
