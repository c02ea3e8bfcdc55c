import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Heartbeat } from '../../src/features/heartbeats/schema.ts';
import type { Watch } from '../../src/features/watches/schema.ts';
import { waitForIncident } from '../incidents/support/incidents.ts';
import { secret } from '../support/credentials.ts';
import { createFolder } from '../support/folder.ts';
import { notReloaded, startReloadable } from '../support/reload.ts';
import { createClaims, signToken } from '../support/tokens.ts';

const variables = { SIGNALBOX_JWT_SECRET: secret };

test('on SIGHUP heartbeats and watches of the config file are replaced by its current ones', async (t) => {
  const [kept, gone, added] = [randomUUID(), randomUUID(), randomUUID()];
  const dataDir = createFolder(t);
  const job = { name: 'job', uuid: kept, period: 3600 };
  const disk = { name: 'small', type: 'disk', limit: 100 };
  const program = await startReloadable(
    t,
    { dataDir, heartbeats: [job, { name: 'gone', uuid: gone, period: 60 }], watches: [disk] },
    variables,
  );
  const token = signToken(createClaims());
  const ping = async (address: string): Promise<number> => (await fetch(`${program.url}/ping/${address}`)).status;
  const list = async <T extends { name: string }>(path: string): Promise<T[]> =>
    (await program.request<{ data: T[] }>('GET', path, { token })).json.data;
  assert.equal(await ping(kept), 200);
  assert.equal(await ping(`${gone}/fail`), 200);
  await waitForIncident(program, { state: 'open' });
  await program.reload({
    dataDir,
    watches: [
      { ...disk, limit: 99.5 },
      { name: 'files', type: 'memory', limit: 100 },
    ],
    heartbeats: [
      { ...job, period: 7200 },
      { name: 'added', uuid: added, period: 60 },
    ],
  });
  assert.deepEqual([await ping(gone), await ping(added)], [404, 200]);
  const heartbeats = await list<Heartbeat>('/api/heartbeats');
  assert.deepEqual(
    heartbeats.map(({ name, state, period }) => [name, state, period]),
    [
      ['added', 'up', 60],
      ['job', 'up', 7200],
    ],
  );
  assert.deepEqual(
    (await list<Watch>('/api/watches')).map(({ name, settings }) => [name, settings.limit]),
    [
      ['small', 99.5],
      ['files', 100],
    ],
  );
  // A removed heartbeat is no longer expected, so its incident is resolved.
  await waitForIncident(program, { state: 'resolved' });
  await program.reload({ dataDir, heartbeats: [{ name: 'job', schedule: '61 * * * *' }] }, notReloaded);
  assert.equal(await ping(kept), 200);
});

test('a heartbeat that moves from the routes to the config file and back accepts pings in both places', async (t) => {
  const dataDir = createFolder(t);
  const program = await startReloadable(t, { dataDir }, variables);
  const token = signToken(createClaims());
  const put = await program.request<Heartbeat>('PUT', '/api/heartbeats/job', { token, body: { period: 60 } });
  const { uuid } = put.json;
  const read = async () => (await program.request<Heartbeat>('GET', '/api/heartbeats/job', { token })).json;
  const ping = async (): Promise<void> => assert.equal((await fetch(`${program.url}/ping/${uuid}`)).status, 200);
  await ping();
  await program.reload({ dataDir, heartbeats: [{ name: 'job', uuid, period: 3600 }] });
  assert.deepEqual([(await read()).isConfigured, (await read()).state], [true, 'new']);
  await ping();
  assert.equal((await read()).state, 'up');
  await program.reload({ dataDir });
  await ping();
  assert.deepEqual([(await read()).isConfigured, (await read()).state], [false, 'up']);
});
