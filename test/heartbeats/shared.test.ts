import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listIncidents, waitForIncident } from '../incidents/support/incidents.ts';
import { startApp } from '../support/app.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { waitUntil } from '../support/wait.ts';
import { createHeartbeat, listRuns, ping, readHeartbeat } from './support/heartbeats.ts';

const skip = toSkipPostgres();

test('any instance takes pings, all instances show the same state, and one of them raises alerts', {
  skip,
}, async (t) => {
  const settings = { store: await createDatabase(t), timeZone: 'UTC' };
  const [one, other] = [await startApp(t, { settings }), await startApp(t, { settings })];
  const { uuid } = await createHeartbeat(one, await one.login('admin'), 'job', { period: 10, grace: 1 });
  await waitUntil(
    'both instances know the heartbeat',
    async () => (await ping(other.url, `${uuid}/start`)).status === 200,
  );
  assert.equal((await ping(other.url, `${uuid}/0`, { method: 'POST', body: 'done\0' })).status, 200);
  await waitUntil('the first instance has the ping', async () => (await readHeartbeat(one, 'job')).state === 'up');
  assert.deepEqual(await listRuns(one, 'job'), await listRuns(other, 'job'));
  const incident = await waitUntilDown(other);
  assert.match(incident.title, /Heartbeat job is late/);
  // The other instance takes over.
  await one.close();
  await ping(other.url, uuid);
  await waitUntil(
    'the incident is resolved',
    async () => (await listIncidents(other, '?state=resolved')).total === 1,
    40_000,
  );
  assert.equal((await listIncidents(other, '?state=all')).data[0]?.count, 2);
  const third = await startApp(t, { settings });
  await waitUntil(
    'a new instance has the ping',
    async () => (await readHeartbeat(third, 'job')).lastSuccessAt !== null,
  );
  assert.deepEqual(await listRuns(third, 'job'), await listRuns(other, 'job'));
});

const waitUntilDown = async (app: Parameters<typeof listIncidents>[0]) => {
  await waitUntil('the heartbeat is down', async () => (await listIncidents(app, '?state=open')).total === 1, 40_000);
  return waitForIncident(app, { state: 'open' });
};
