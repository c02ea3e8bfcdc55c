import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Database } from '../../src/storage/postgres/database.ts';
import { DatabaseLog } from '../../src/storage/postgres/database-log.ts';
import { createSnapshotTable } from '../../src/storage/postgres/snapshot-table.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runSql } from '../support/postgres/server.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { atEnd, type Scope } from '../support/scope.ts';

const skip = toSkipPostgres();
const ignore = (): void => undefined;

/** Opens an instance whose log has a few events and a snapshot. */
const openInstance = async (t: Scope) => {
  const url = await createDatabase(t);
  const identity = { instance: randomUUID(), name: 'test', version: '0' };
  const common = { secret: 'x'.repeat(32), timeZone: 'UTC' };
  const database = new Database(url, identity, common, { report: ignore, onRefused: ignore, onCommit: ignore });
  database.begin();
  const clock = () => new Date();
  const log = await DatabaseLog.open({ database, table: 'setting', clock, retainDays: () => 0, hasSnapshot: true });
  atEnd(t, async () => {
    await log.close();
    await database.close();
  });
  const snapshot = createSnapshotTable({ database, tables: ['setting'], isWriter: () => true });
  /** Appends an event and writes a snapshot as of that event. */
  const write = async (entries: Iterable<readonly unknown[]>): Promise<void> => {
    const [last] = await log.appendAll([{ event: true }]);
    if (last) await snapshot.write(last.seq, entries, last);
  };
  const read = async () => {
    const entries: unknown[] = [];
    const damages: string[] = [];
    const seq = await snapshot.read(
      (entry) => entries.push(entry),
      (damage) => damages.push(damage),
    );
    return { seq, entries, damages };
  };
  const sql = (text: string) => runSql(url, text);
  return { log, snapshot, write, read, sql };
};

const createEntries = (count: number): { name: number; text: string }[] =>
  Array.from({ length: count }, (_, name) => ({ name, text: 'x'.repeat(60_000) }));

/** Query for the number of parts in each of the log's snapshots. */
const countParts = `SELECT count(*)::int AS count FROM signalbox.projection_part WHERE name LIKE 'setting%' GROUP BY name`;

test('a snapshot that lost parts in a failover while it was written is ignored', { skip }, async (t) => {
  const { write, read, sql } = await openInstance(t);
  const [kept] = createEntries(1);
  await write([[kept]]);
  await sql(`CREATE FUNCTION signalbox.lose() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN DELETE FROM signalbox.projection_part WHERE name = NEW.name AND part < 4; RETURN NULL; END'`);
  await sql(`CREATE TRIGGER lose AFTER INSERT ON signalbox.projection_part
      FOR EACH ROW WHEN (NEW.part = 8) EXECUTE FUNCTION signalbox.lose()`);
  await write([createEntries(12)]);
  assert.deepEqual(await read(), { seq: 1, entries: [kept], damages: [] });
  assert.deepEqual(await sql(countParts), [{ count: 1 }]);
});

test('a snapshot that lacks a part is refused', { skip }, async (t) => {
  const { write, read, sql } = await openInstance(t);
  await write([createEntries(6)]);
  assert.equal((await read()).entries.length, 6);
  await sql('DELETE FROM signalbox.projection_part WHERE part = 2');
  await assert.rejects(read(), /part 2 of the snapshot .* is missing/);
});

test('a damaged part of a snapshot costs only the damaged entries, and is reported', { skip }, async (t) => {
  const { write, read, sql } = await openInstance(t);
  const nested = { name: 'nested', events: [{ type: 'opened' }, { type: 'resolved' }] };
  await write([[{ name: 'a' }, { name: 'b' }, nested]]);
  await sql(`UPDATE signalbox.projection_part SET body = replace(body, '"b"', '"b') WHERE name LIKE 'setting%'`);
  assert.deepEqual(await read(), {
    seq: 1,
    entries: [{ name: 'a' }, nested],
    damages: ['the snapshot of the table setting is damaged'],
  });
});

test('replaced snapshots and the parts of failed ones are deleted', { skip }, async (t) => {
  const { write, read, sql } = await openInstance(t);
  await write([createEntries(100)]);
  await write([createEntries(2)]);
  assert.deepEqual(await sql(countParts), [{ count: 2 }]);
  function* fail() {
    yield createEntries(20);
    throw new Error('it cannot be saved');
  }
  await assert.rejects(write(fail()), /cannot be saved/);
  assert.deepEqual(await sql(countParts), [{ count: 2 }]);
  assert.deepEqual((await read()).entries, createEntries(2));
  await sql(`CREATE TABLE signalbox.former AS SELECT * FROM signalbox.projection;
    CREATE TABLE signalbox.former_part AS SELECT * FROM signalbox.projection_part`);
  await write([createEntries(3)]);
  // The log is in its state after a failover.
  await sql(`DELETE FROM signalbox.projection; INSERT INTO signalbox.projection SELECT * FROM signalbox.former;
    INSERT INTO signalbox.projection_part SELECT * FROM signalbox.former_part ON CONFLICT DO NOTHING`);
  await write([createEntries(4)]);
  assert.deepEqual((await read()).entries, createEntries(4));
});
