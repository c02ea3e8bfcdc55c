import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { waitUntil } from '../support/wait.ts';

const skip = toSkipPostgres();

const startNamed = (t: TestContext, store: string, instanceName: string) =>
  startApp(t, {
    settings: {
      store,
      timeZone: 'UTC',
      instanceName,
      destinations: ['anna', 'ben'].map((name) => ({
        name,
        type: 'webhook',
        url: 'http://127.0.0.1:9/',
        notify: 'incidents',
      })),
      rotations: [{ name: 'oncall', members: ['anna', 'ben'], handover: '0 9 * * 1' }],
    },
  });

test('instances that share a database have equal members on call, including overrides', { skip }, async (t) => {
  const store = await createDatabase(t);
  const [one, two] = [await startNamed(t, store, 'one'), await startNamed(t, store, 'two')];
  const read = async ({ request }: typeof one) =>
    (await request<{ data: { member: string; override: { id: string } | null }[] }>('GET', '/api/oncall')).json.data[0];
  const before = await read(one);
  assert.deepEqual(await read(two), before);
  const token = await one.login('admin');
  const member = before?.member === 'anna' ? 'ben' : 'anna';
  const endsAt = new Date(Date.now() + 3_600_000).toISOString();
  const created = await one.request<{ id: string }>('POST', '/api/oncall/overrides', {
    token,
    body: { rotation: 'oncall', member, endsAt },
  });
  assert.equal(created.status, 201);
  await waitUntil(
    'the other instance knows the override',
    async () => (await read(two))?.override?.id === created.json.id,
  );
  assert.equal((await read(two))?.member, member);
  const path = `/api/oncall/overrides/${created.json.id}`;
  assert.equal((await two.request('DELETE', path, { token: await two.login('admin') })).status, 200);
  await waitUntil(
    'the first instance knows that it has ended',
    async () => (await read(one))?.member === before?.member,
  );
});
