import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { answer, startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait.ts';
import { createWatch, readWatch, waitForAlerts, waitForState } from '../watches/support/watches.ts';

const skip = toSkipPostgres();

const startNamed = (t: TestContext, store: string, instanceName: string) =>
  startApp(t, { settings: { store, timeZone: 'UTC', instanceName } });

test('of instances that share a database one runs a watch, and another goes on where that ends', {
  skip,
}, async (t) => {
  const store = await createDatabase(t);
  const [one, two] = [await startNamed(t, store, 'one'), await startNamed(t, store, 'two')];
  const server = await startReceiver(t, answer(503));
  const token = await one.login('admin');
  const watch = { name: 'shop', type: 'http', url: `${server.url}/health`, every: 1 };
  await createWatch(two, token, watch);
  const [raised] = await waitForAlerts(one, 1);
  const states = async () => [await readWatch(one, token, 'shop'), await readWatch(two, token, 'shop')];
  await waitUntil('both know it', async () => (await states()).some(({ state }) => state === 'elsewhere'));
  const isOne = (await states())[0]?.state === 'firing';
  const [holder, other] = isOne ? [one, two] : [two, one];
  await holder.close();
  await waitForState(other, token, 'shop', 'firing');
  assert.deepEqual(
    (await waitForAlerts(other, 1)).map(({ id }) => id),
    [raised?.id],
  );
  server.behave(answer(200));
  const [, ended] = await waitForAlerts(other, 2);
  assert.deepEqual([ended?.status, ended?.resolves], ['resolved', raised?.id]);
});
