import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { waitUntil } from '../support/wait.ts';
import { createHeartbeat, ping, readHeartbeat } from './support/heartbeats.ts';

/**
 * Pings by name, creating the heartbeat if necessary. Returns the status. A busy machine refuses some pings at first.
 */
const pingByName = async ({ url }: TestApp, token: string, name: string): Promise<number> => {
  let status = 0;
  await waitUntil('the ping is accepted', async () => {
    const answer = await ping(url, `${name}?create=1`, { headers: { Authorization: `Bearer ${token}` } });
    assert.ok([200, 201, 503].includes(answer.status), answer.text);
    status = answer.status;
    return status !== 503;
  });
  return status;
};

test('concurrent pings of an unknown name create one heartbeat, and all of them count', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const statuses = await Promise.all(Array.from({ length: 32 }, () => pingByName(app, token, 'job')));
  assert.deepEqual(statuses.toSorted(), [...Array.from({ length: 31 }, () => 200), 201]);
});

test('a ping with create=1 does not replace a heartbeat that another instance has just created', {
  skip: toSkipPostgres(),
}, async (t) => {
  const settings = { store: await createDatabase(t), timeZone: 'UTC' };
  const [one, other] = [await startApp(t, { settings }), await startApp(t, { settings })];
  const token = await one.login('admin');
  for (let round = 0; round < 5; round += 1) {
    const name = `job-${round}`;
    const [created] = await Promise.all([
      createHeartbeat(one, token, name, { schedule: '0 3 * * *', timeZone: 'UTC' }).catch(() => undefined),
      pingByName(other, token, name),
    ]);
    if (!created) continue;
    const { uuid, schedule, version } = await readHeartbeat(one, name, token);
    assert.deepEqual(
      { uuid, schedule, version },
      { uuid: created.uuid, schedule: '0 3 * * *', version: created.version },
    );
  }
  const { uuid } = await createHeartbeat(one, token, 'known', { schedule: '0 3 * * *', timeZone: 'UTC' });
  assert.equal(await pingByName(other, token, 'known'), 200);
  const found = await readHeartbeat(other, 'known', token);
  assert.deepEqual([found.uuid, found.schedule], [uuid, '0 3 * * *']);
});
