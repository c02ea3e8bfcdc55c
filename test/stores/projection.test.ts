import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { Database } from '../../src/storage/postgres/database.ts';
import { DatabaseLog } from '../../src/storage/postgres/database-log.ts';
import { Projection } from '../../src/storage/projection.ts';
import { createLedgerEvents, Ledger } from '../support/ledger.ts';
import { amount } from '../support/long.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runSql } from '../support/postgres/server.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { atEnd, type Scope } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';

const skip = toSkipPostgres();
const ignore = (): void => undefined;

const openInstance = async (t: Scope, url: string, table: 'setting' | 'alert' = 'setting') => {
  const identity = { instance: randomUUID(), name: 'test', version: '0' };
  const common = { secret: 'x'.repeat(32), timeZone: 'UTC' };
  const damages: string[] = [];
  const onDamage = (damage: string) => void damages.push(damage);
  const observer = { report: ignore, onRefused: ignore, onCommit: ignore, onDamage };
  const database = new Database(url, identity, common, observer);
  database.begin();
  const clock = () => new Date();
  const log = await DatabaseLog.open({
    database,
    table,
    hasEvents: table === 'alert',
    instance: identity.instance,
    clock,
    retainDays: () => 0,
  });
  const createState = () => new Ledger();
  const projection = await Projection.open({ log, createState, onDamage: assert.fail, onUnsaved: assert.fail });
  atEnd(t, async () => {
    await projection.close();
    await log.close();
    await database.close();
  });
  return { projection, log, damages };
};

test('two instances that append concurrently fold the same events in one order, and outcomes follow that order', {
  skip,
}, async (t) => {
  const url = await createDatabase(t);
  const [one, two] = await Promise.all([openInstance(t, url), openInstance(t, url)]);
  const batch = fc.array(fc.tuple(createLedgerEvents(fc), fc.boolean()), { minLength: 1, maxLength: 20 });
  const run = async (events: [Record<string, unknown>, boolean][]): Promise<void> => {
    const { lastSeq: before = 0 } = one.log.state();
    const model = new Ledger();
    for await (const records of one.log.readAfter(0)) for (const record of records) model.fold(record);
    const outcomes = await Promise.all(
      events.map(([event, isFirst]) => (isFirst ? one : two).projection.append(event)),
    );
    await Promise.all([one, two].map(({ projection }) => projection.catchUp()));
    const expected: unknown[] = [];
    for await (const records of one.log.readAfter(before)) {
      for (const record of records) expected.push(model.fold(record));
    }
    const sort = (all: unknown[]) => all.map((each) => JSON.stringify(each)).toSorted();
    assert.deepEqual(sort(outcomes), sort(expected));
    assert.deepEqual(one.projection.state.read(), model.read());
    assert.deepEqual(two.projection.state.read(), model.read());
  };
  await fc.assert(fc.asyncProperty(batch, run), { numRuns: amount(10, 100) });
  const third = await openInstance(t, url);
  assert.deepEqual(third.projection.state.read(), one.projection.state.read());
});

test('an instance folds the events of another instance within seconds, and immediately when it catches up', {
  skip,
}, async (t) => {
  const url = await createDatabase(t);
  const [one, two] = await Promise.all([openInstance(t, url), openInstance(t, url)]);
  await one.projection.append({ name: 'a', amount: 1 });
  await two.projection.catchUp();
  assert.deepEqual(two.projection.state.read(), [['a', 1]]);
  await two.projection.append({ name: 'a', amount: 2 });
  await waitUntil('the first instance has the event', () => one.projection.state.read()[0]?.[1] === 3, 5000);
});

test('reading a log ends at the records that were stored when it began, with any number of later records', {
  skip,
}, async (t) => {
  const { log } = await openInstance(t, await createDatabase(t));
  await log.append({ name: 'a', amount: 1 });
  const read: number[] = [];
  for await (const records of log.readAfter(0)) {
    read.push(...records.map(({ seq }) => seq));
    if (read.length < 5) await log.append({ name: 'a', amount: 1 });
  }
  assert.deepEqual(read, [1]);
});

test('instances without a snapshot drop events that the database has lost before their seqs are reused', {
  skip,
}, async (t) => {
  const url = await createDatabase(t);
  const { projection } = await openInstance(t, url);
  for (const name of ['kept', 'lost']) await projection.append({ name, amount: 1 });
  await runSql(
    url,
    "DELETE FROM signalbox.setting WHERE seq = 2; UPDATE signalbox.gate SET last_id = 1 WHERE name = 'setting'",
  );
  await projection.catchUp();
  assert.deepEqual(projection.state.read(), [['kept', 1]]);
  assert.equal(projection.isCurrent, true);
  await projection.append({ name: 'other', amount: 1 });
  assert.equal(projection.state.read().length, 2);
});

test('an event of a feature that reuses the seq of a lost record replaces it', {
  skip,
}, async (t) => {
  const url = await createDatabase(t);
  const { projection } = await openInstance(t, url, 'alert');
  await projection.append({ name: 'lost', amount: 1 });
  await runSql(
    url,
    `WITH lost AS (DELETE FROM signalbox.alert RETURNING seq)
      INSERT INTO signalbox.alert_event SELECT seq, gen_random_uuid(), 0, 'x', NULL, '{"feature":"other"}' FROM lost`,
  );
  await projection.catchUp();
  assert.deepEqual(projection.state.read(), []);
});

test('a damaged record in the database is reported once, and the others count', { skip }, async (t) => {
  const url = await createDatabase(t);
  const first = await openInstance(t, url);
  for (const name of ['a', 'b', 'c']) await first.projection.append({ name, amount: 1 });
  await runSql(url, "UPDATE signalbox.setting SET body = '{' WHERE seq = 2");
  const { projection, damages } = await openInstance(t, url);
  await projection.append({ name: 'd', amount: 1 });
  assert.deepEqual(
    projection.state.read().map(([name]) => name),
    ['a', 'c', 'd'],
  );
  await runSql(url, "UPDATE signalbox.setting SET body = '{' WHERE seq = 4");
  const { damages: again } = await openInstance(t, url);
  assert.deepEqual(
    [damages, again],
    [
      ['record 2 of the log setting is damaged'],
      ['record 2 of the log setting is damaged', 'record 4 of the log setting is damaged'],
    ],
  );
});
