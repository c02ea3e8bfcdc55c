import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startProgram } from '../support/program.ts';

/** Returns the client address that is logged for a request that a proxy on 127.0.0.1 forwards for 192.0.2.7. */
const loggedAddress = async (t: TestContext, flags: string[]): Promise<string> => {
  const args = ['--profiles', 'L', '--log-level', 'debug', ...flags];
  const { request, stop } = await startProgram(t, args);
  const headers = { 'x-forwarded-for': '198.51.100.1, 192.0.2.7' };
  assert.equal((await request('GET', '/api/tasks', { headers })).status, 200);
  const lines = (await stop()).stderr.trim().split('\n');
  return lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'request').ip;
};

test('X-Forwarded-For is accepted only from a trusted proxy, and only its last address', async (t) => {
  assert.equal(await loggedAddress(t, []), '127.0.0.1');
  assert.equal(await loggedAddress(t, ['--trust-proxy', '10.0.0.0/8']), '127.0.0.1');
  assert.equal(await loggedAddress(t, ['--trust-proxy', '127.0.0.0/8']), '192.0.2.7');
});
