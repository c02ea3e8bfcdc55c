import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAvailability, waitForCheck } from '../availability/support/availability.ts';
import { createHeartbeat, ping } from '../heartbeats/support/heartbeats.ts';
import { passwords } from '../support/credentials.ts';
import { type Running, startProgram } from '../support/program.ts';
import { createFiles, variables } from '../support/transfer.ts';
import { waitUntil } from '../support/wait.ts';

const check = 'heartbeats/job';

const logIn = async ({ request }: Running): Promise<string> => {
  const body = { Username: 'admin', Password: passwords.admin };
  return (await request<{ token: string }>('POST', '/api/auth/login', { body })).json.token;
};

const waitForSeconds = (count: number): Promise<void> => {
  const end = Date.now() + count * 1000;
  return waitUntil(`${count} seconds have passed`, () => Date.now() >= end);
};

test('after kill -9 and a start, the time between is unknown, and outages before the kill remain', async (t) => {
  const { flags } = createFiles(t);
  const first = await startProgram(t, flags, { variables });
  const token = await logIn(first);
  const { uuid } = await createHeartbeat(first, token, 'job');
  await ping(first.url, `${uuid}/3`);
  await waitForCheck(first, token, check, 'down');
  await waitForSeconds(2);
  await ping(first.url, uuid);
  const before = await waitForCheck(first, token, check, 'up');
  await waitForSeconds(2);
  await first.stop('SIGKILL');
  const killedAt = Date.now();
  await waitForSeconds(4);
  const startedAt = Date.now();
  const second = await startProgram(t, flags, { variables });
  const again = await logIn(second);
  const after = await waitForCheck(second, again, check, 'up');
  assert.deepEqual(after.outages, before.outages);
  assert.ok((before.outages[0]?.seconds ?? 0) >= 1);
  // The server detects the gap at its first check.
  await waitUntil('the check is up since the start', async () => {
    const { since } = await readAvailability(second, again, check);
    return Date.parse(String(since)) >= Math.floor(startedAt / 1000) * 1000;
  });
  const between = `?from=${new Date(killedAt + 1000).toISOString()}&until=${new Date(startedAt).toISOString()}`;
  const { up, down, unknown } = await readAvailability(second, again, check, between);
  assert.deepEqual([up, down], [0, 0]);
  assert.ok(unknown >= 2);
});
