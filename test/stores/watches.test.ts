import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { takeGonePlace, toPlaceLease } from '../../src/features/watches/gone-places.ts';
import { readPostgresUrl } from '../../src/storage/postgres/address.ts';
import { Primary, type Statement } from '../../src/storage/postgres/connection.ts';
import { disk, sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runSql } from '../support/postgres/server.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { answer, startReceiver } from '../support/receiver.ts';
import { atEnd } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';
import { createWatch, readWatch, waitForAlerts, waitForState } from '../watches/support/watches.ts';

const skip = toSkipPostgres();

const startNamed = (t: TestContext, store: string, instanceName: string) =>
  startApp(t, { settings: { store, timeZone: 'UTC', instanceName } });

test('one of the instances that share a database runs a watch, and another instance takes over when it ends', {
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
  await waitUntil('both instances know the state', async () =>
    (await states()).some(({ state }) => state === 'elsewhere'),
  );
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

test('the alerts of an instance continue after its restart, and are resolved when the instance is gone', {
  skip,
}, async (t) => {
  const store = await createDatabase(t);
  const receiver = await startReceiver(t, answer(403));
  const destinations = [{ name: 'pager', type: 'webhook', url: receiver.url }];
  const folder = createFolder(t);
  const startOne = () =>
    startApp(t, {
      settings: { store, timeZone: 'UTC', instanceName: 'one', destinations, dataDir: join(folder, 'one') },
    });
  const two = await startNamed(t, store, 'two');
  let one = await startOne();
  const token = await two.login('admin');
  await createWatch(two, token, { name: 'delivery', type: 'destination', for: 0, every: 1 });
  await sendAlert(one, disk);
  const [raised] = await waitForAlerts(two, 1);
  await one.close();
  one = await startOne();
  await waitForState(one, token, 'delivery', 'firing');
  assert.deepEqual(
    (await waitForAlerts(two, 1)).map(({ id }) => id),
    [raised?.id],
  );
  await one.close();
  // A process killed an hour ago left this row.
  const place = raised?.fingerprint.split('/')[1];
  await runSql(
    store,
    `INSERT INTO signalbox.lease VALUES ('watches/${place}', gen_random_uuid(), now() - interval '1 hour')
     ON CONFLICT (name) DO UPDATE SET until = excluded.until`,
  );
  const [, ended] = await waitForAlerts(two, 2, 40_000);
  assert.deepEqual([ended?.status, ended?.resolves, ended?.fingerprint], ['resolved', raised?.id, raised?.fingerprint]);
});

test('an instance counts as gone after 5 minutes and a machine after a day, and each is taken over once', {
  skip,
}, async (t) => {
  const store = await createDatabase(t);
  const app = await startNamed(t, store, 'one');
  const connection = await new Primary(readPostgresUrl(store)).connect();
  atEnd(t, () => connection.close());
  const database = { query: (statement: Statement) => connection.query(statement), instance: randomUUID() };
  const age = (place: string, minutes: number) =>
    runSql(
      store,
      `UPDATE signalbox.lease SET until = now() - interval '${minutes} minutes' WHERE name = '${toPlaceLease(place)}'`,
    );
  for (const [place, minutes] of [
    ['.signalbox-0123456789abcdef', 5],
    ['.6f9619ff-8b86-4d01-b42d-00cf4fc964ff', 5],
    ['db-1', 24 * 60],
  ] as const) {
    assert.equal(await takeGonePlace(database, place), false, 'at first sight it begins to be gone');
    await age(place, minutes - 1);
    assert.equal(await takeGonePlace(database, place), false);
    await age(place, minutes + 1);
    assert.equal(await takeGonePlace(database, place), true);
    assert.equal(await takeGonePlace(database, place), false);
  }
  // A process of 1.1.0 has a row among the writers, but no lease.
  const [row] = await runSql<{ instance: string }>(store, 'SELECT instance FROM signalbox.writer');
  const live = `.${row?.instance}`;
  for (let round = 0; round < 2; round += 1) {
    assert.equal(await takeGonePlace(database, live), false);
    await age(live, 60);
  }
  await app.close();
});
