import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { incidentStates } from '../../src/kit/incident.ts';
import { amount } from '../support/long.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runSql } from '../support/postgres/server.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { createScope, type Scope } from '../support/scope.ts';
import { waitUntil, waitUntilPasses } from '../support/wait.ts';
import { openInstance } from './incident-instance.ts';
import { createLifeTools, createTime, type Step, steps, takeStep } from './incident-store.ts';

const skip = toSkipPostgres();

type Instance = Awaited<ReturnType<typeof openInstance>>;

/** Reads all incidents of an instance. */
const readAll = async ({ store }: Pick<Instance, 'store'>) => {
  const { incidents } = await store.list({ states: incidentStates }, 1000);
  return incidents.map((incident) => ({ ...incident, events: store.listEvents(incident.id) }));
};

const openLife = (t: Scope, url: string, name: string, time: ReturnType<typeof createTime>) =>
  createLifeTools(
    t,
    async (scope, clock) => {
      const { store, alerts, measured } = await openInstance(scope, url, clock, { name });
      const append = async (records: readonly Record<string, unknown>[]) => {
        const appended = await alerts.appendAll(records);
        return records.map((record, index) => ({ ...record, ...appended[index] }) as never);
      };
      return { store, append, measured };
    },
    time,
  );

test('after any alerts, actions and times at two instances, both and a new instance have equal incidents', {
  skip,
}, async () => {
  const run = async (all: readonly Step[], places: readonly boolean[]): Promise<void> => {
    const scope = createScope();
    try {
      const url = await createDatabase(scope);
      const time = createTime();
      // The first instance holds the lease, so it appends time.
      const one = await openLife(scope, url, 'one', time);
      const two = await openLife(scope, url, 'two', time);
      for (const [index, step] of all.entries()) await takeStep(places[index % places.length] ? one : two, step);
      for (const { store } of [one, two, one]) await store.catchUp();
      const known = await readAll(one);
      assert.deepEqual(await readAll(two), known);
      const replayed = await openLife(scope, url, 'three', time);
      assert.deepEqual(await readAll(replayed), known);
      await one.store.save();
      const snapshots = await runSql(url, 'SELECT 1 FROM signalbox.projection');
      assert.equal(snapshots.length, known.length > 0 ? 1 : snapshots.length);
      const restored = await openLife(scope, url, 'four', time);
      assert.deepEqual(await readAll(restored), known);
    } finally {
      await scope.end();
    }
  };
  const property = fc.asyncProperty(steps, fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }), run);
  await fc.assert(property, { numRuns: amount(8, 100) });
});

test('each incident that opens is measured by one instance', { skip }, async (t) => {
  const url = await createDatabase(t);
  const clock = () => new Date();
  const [one, two] = [
    await openInstance(t, url, clock, { name: 'one' }),
    await openInstance(t, url, clock, { name: 'two' }),
  ];
  const send = ({ alerts }: Instance, fingerprint: string) =>
    alerts.append({ level: 'ERROR', message: 'm', status: 'firing', fingerprint, time: clock().toISOString() });
  for (let index = 0; index < 6; index += 1) await send(index < 2 ? one : two, `${index}`);
  for (const { store } of [one, two]) await store.catchUp();
  assert.deepEqual([one.measured.opened, two.measured.opened], [2, 4]);
});

for (const hasSnapshot of [false, true]) {
  test(`instances drop records that the database has lost in a failover, ${hasSnapshot ? 'with' : 'without'} a snapshot`, {
    skip,
  }, async (t) => {
    const url = await createDatabase(t);
    const clock = () => new Date();
    const [one, two] = [await openInstance(t, url, clock), await openInstance(t, url, clock)];
    const send = ({ alerts }: Instance, fingerprint: string) =>
      alerts.append({ level: 'ERROR', message: 'm', status: 'firing', fingerprint, time: clock().toISOString() });
    const catchUp = () => Promise.all([one, two].map(({ store }) => store.catchUp()));
    await send(one, 'kept');
    await send(two, 'kept too');
    await catchUp();
    if (hasSnapshot) await one.store.save();
    await send(one, 'lost');
    await catchUp();
    const [lost, last] = await readAll(one);
    assert.equal(lost?.about, 'lost');
    for (const id of [lost.id, last?.id ?? ''])
      await two.store.act({ type: 'comment', id, by: 'anna', comment: 'lost' });
    await catchUp();
    const reported: string[] = [];
    one.store.onChanged((incidents) => reported.push(...incidents.map(({ about, version }) => `${about} ${version}`)));
    await runSql(
      url,
      `BEGIN; DELETE FROM signalbox.alert WHERE seq > 2; DELETE FROM signalbox.alert_event WHERE seq > 2;
      UPDATE signalbox.gate SET last_id = 2 WHERE name = 'alert'; COMMIT`,
    );
    // These are different records that have the seqs of the lost records.
    for (const name of ['other', 'another', 'and another']) await send(two, name);
    await catchUp();
    const fresh = await openInstance(t, url, clock);
    const expected = await readAll(fresh);
    assert.deepEqual(expected.map(({ about, version }) => `${about} ${version}`).toSorted(), [
      'and another 1',
      'another 1',
      'kept 1',
      'kept too 1',
      'other 1',
    ]);
    for (const instance of [one, two]) assert.deepEqual(await readAll(instance), expected);
    await waitUntil(
      'listeners have the changes',
      () => reported.includes('kept too 1') && reported.includes('and another 1'),
    );
    await send(one, 'later');
    await waitUntilPasses(async () => assert.deepEqual(await readAll(two), await readAll(one)));
    assert.equal((await readAll(one)).length, 6);
  });
}

test('an idle instance notices the loss of the last record, also if another record reuses its seq', {
  skip,
}, async (t) => {
  const url = await createDatabase(t);
  const clock = () => new Date();
  const { store, alerts } = await openInstance(t, url, clock);
  const alert = { level: 'ERROR', message: 'm', status: 'firing', fingerprint: 'lost', time: clock().toISOString() };
  await alerts.append(alert);
  await store.catchUp();
  await runSql(url, `UPDATE signalbox.alert SET id = gen_random_uuid(), body = replace(body, 'lost', 'other')`);
  // The instance detects the loss without any request.
  await waitUntil(
    'the loss is noticed',
    () => store.count().some(({ count }) => count > 0) && store.failure === undefined,
  );
  await waitUntil('the store has the other incident', async () => (await readAll({ store }))[0]?.about === 'other');
  await runSql(url, "DELETE FROM signalbox.alert; UPDATE signalbox.gate SET last_id = 0 WHERE name = 'alert'");
  await waitUntil('the store is empty', () => store.count().every(({ count }) => count === 0));
});

test('old alerts are deleted once a snapshot contains their incidents, which instances keep', { skip }, async (t) => {
  const url = await createDatabase(t);
  const day = 24 * 60 * 60 * 1000;
  let now = Date.now();
  const clock = () => new Date(now);
  const first = await openInstance(t, url, clock);
  for (const fingerprint of ['a', 'b']) {
    await first.alerts.append({ level: 'ERROR', message: 'm', fingerprint, time: clock().toISOString() });
  }
  await first.store.catchUp();
  const [newest] = await readAll(first);
  await first.store.act({ type: 'comment', id: newest?.id ?? '', by: 'anna', comment: 'c' });
  now += 0.9 * day;
  await first.alerts.append({ level: 'ERROR', message: 'm', fingerprint: 'c', time: clock().toISOString() });
  await first.store.catchUp();
  now += 0.5 * day;
  await first.store.catchUp();
  const known = await readAll(first);
  await openInstance(t, url, clock, { retainDays: 1 });
  const count = async () => {
    const text =
      'SELECT (SELECT count(*) FROM signalbox.alert) + (SELECT count(*) FROM signalbox.alert_event) AS count';
    const [row] = await runSql<{ count: string }>(url, text);
    return Number(row?.count);
  };
  // Both an alert and the passing of time are needed.
  await waitUntil('old rows are deleted', async () => (await count()) === 2, 15_000);
  assert.deepEqual(await readAll(first), known);
  const next = await openInstance(t, url, clock);
  assert.deepEqual(await readAll(next), known);
});

test('an instance that missed any number of records restores the snapshot if only the snapshot contains them', {
  skip,
}, async (t) => {
  const url = await createDatabase(t);
  const clock = () => new Date();
  const [one, two] = [await openInstance(t, url, clock), await openInstance(t, url, clock)];
  const alert = { level: 'ERROR', message: 'm', fingerprint: 'a', time: clock().toISOString() };
  await one.alerts.append(alert);
  await two.store.catchUp();
  for (let count = 0; count < 5; count += 1) await one.alerts.append(alert);
  await one.store.catchUp();
  await one.store.save();
  await runSql(url, 'DELETE FROM signalbox.alert; UPDATE signalbox.projection SET gone = seq');
  await two.store.catchUp();
  const [incident, ...others] = await readAll(two);
  assert.deepEqual([incident?.count, others], [6, []]);
  await two.alerts.append(alert);
  for (const instance of [one, two]) assert.equal((await readAll(instance))[0]?.count, 7);
});
