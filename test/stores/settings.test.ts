import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { StoreConflict, StoreUnavailable } from '../../src/expected-errors.ts';
import { LoggedSettings } from '../../src/profiles/settings/store.ts';
import { type Journal, openJournal } from '../../src/storage/journal/journal.ts';
import { Database } from '../../src/storage/postgres/database.ts';
import { DatabaseLog } from '../../src/storage/postgres/database-log.ts';
import type { RecordLog } from '../../src/storage/record-log.ts';
import { createFolder } from '../support/folder.ts';
import { amount } from '../support/long.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { atEnd, createScope, type Scope } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';

const skip = toSkipPostgres();
const ignore = (): void => undefined;

/** A store whose log outlives it. */
interface SettingsLife {
  store: LoggedSettings;
  log: RecordLog;
  /** Opens the same log again; with files, after the first was closed. */
  reopen(): Promise<LoggedSettings>;
}

type CreateSettings = (t: Scope, clock: () => Date) => Promise<SettingsLife>;

const openSettings = async (t: Scope, log: RecordLog, clock: () => Date, onDamage = ignore) => {
  const store = await LoggedSettings.open({ log, clock, onDamage });
  atEnd(t, () => store.close());
  return store;
};

const openLog = async (t: Scope, directory: string): Promise<Journal> => {
  const log = await openJournal({ directory, name: 'settings', minFreeBytes: 0, recentCount: 1000 });
  atEnd(t, () => log.close());
  return log;
};

const createInFiles: CreateSettings = async (t, clock) => {
  const directory = createFolder(t);
  const log = await openLog(t, directory);
  const store = await openSettings(t, log, clock);
  const reopen = async () => {
    store.close();
    await log.close();
    return openSettings(t, await openLog(t, directory), clock);
  };
  return { store, log, reopen };
};

const openInstance = async (t: Scope, url: string, clock: () => Date) => {
  const identity = { instance: randomUUID(), name: 'test', version: '0' };
  const common = { secret: 'x'.repeat(32), timeZone: 'UTC' };
  const database = new Database(url, identity, common, { report: ignore, onCommit: ignore });
  database.begin();
  const log = await DatabaseLog.open({ database, table: 'setting', instance: 'a', clock, retainDays: () => 0 });
  const store = await openSettings(t, log, clock);
  atEnd(t, async () => {
    await log.close();
    await database.close();
  });
  return { store, log };
};

const createInPostgres: CreateSettings = async (t, clock) => {
  const url = await createDatabase(t);
  return { ...(await openInstance(t, url, clock)), reopen: async () => (await openInstance(t, url, clock)).store };
};

const values = (store: LoggedSettings, kind: string) =>
  store.list(kind).map(({ name, value, by, at, createdAt }) => ({ name, value, by, at, createdAt }));

const testSettings = (name: string, create: CreateSettings): void => {
  test(`${name}: settings are put, changed, deleted and there again after a restart`, async (t) => {
    let now = 1000;
    const { store, reopen } = await create(t, () => new Date(now));
    let changes = 0;
    store.onChanged('a', () => {
      changes += 1;
    });
    const first = await store.put('a', 'x', { n: 1 }, 'anna');
    assert.deepEqual(
      [first.name, first.value, first.by, first.at, first.createdAt],
      ['x', { n: 1 }, 'anna', 1000, 1000],
    );
    await store.put('b', 'x', 'other kind', 'anna');
    await store.put('a', 'y\u0000', 'ü', 'anna');
    now = 2000;
    const second = await store.put('a', 'x', { n: 2 }, 'ben', [first.version]);
    assert.ok(second.version > first.version);
    assert.deepEqual(values(store, 'a'), [
      { name: 'x', value: { n: 2 }, by: 'ben', at: 2000, createdAt: 1000 },
      { name: 'y\u0000', value: 'ü', by: 'anna', at: 1000, createdAt: 1000 },
    ]);
    assert.equal(await store.delete('a', 'y\u0000', 'ben'), true);
    assert.equal(await store.delete('a', 'y\u0000', 'ben'), false);
    assert.equal(changes, 4);
    const again = await reopen();
    assert.deepEqual(again.list('a'), store.list('a'));
    assert.deepEqual(again.find('b', 'x')?.value, 'other kind');
    assert.equal(again.find('a', 'y\u0000'), undefined);
  });

  test(`${name}: a change of what has another version is refused, of two at once the second`, async (t) => {
    const { store, log } = await create(t, () => new Date());
    const isConflict = (version: number) => (error: unknown) =>
      error instanceof StoreConflict && error.version === version;
    const { version } = await store.put('a', 'x', 1, 'anna', [0]);
    await assert.rejects(store.put('a', 'x', 2, 'anna', [0]), isConflict(version));
    await assert.rejects(store.delete('a', 'x', 'anna', [version + 1]), isConflict(version));
    await assert.rejects(store.put('a', 'new', 2, 'anna', [version]), isConflict(0));
    const outcomes = await Promise.allSettled([
      store.put('a', 'x', 'one', 'anna', [version]),
      store.put('a', 'x', 'two', 'ben', [version]),
    ]);
    assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
    const { records } = await log.search({ limit: 10, maxBytes: 1e6, test: (record) => store.isEffective(record) });
    assert.equal(records.length, 2);
    assert.deepEqual(store.find('a', 'x')?.value, records[0]?.['value']);
    const before = store.find('a', 'x')?.version ?? 0;
    await store.delete('a', 'x', 'anna', [before]);
    const { version: later } = await store.put('a', 'x', 'again', 'anna');
    assert.ok(later > before);
  });

  test(`${name}: what is too large is refused`, async (t) => {
    const { store } = await create(t, () => new Date());
    await assert.rejects(store.put('a', 'x', 'x'.repeat(70_000), 'anna'), { status: 413 });
    assert.deepEqual(store.list('a'), []);
  });

  test(`${name}: any changes lead to the same settings as in a simple model, also after a restart`, async () => {
    const change = fc.record({
      name: fc.constantFrom('x', 'y', 'z'),
      value: fc.option(fc.integer()),
      expected: fc.constantFrom('any', 'current', 'none', 'old'),
    });
    const run = async (changes: (typeof change extends fc.Arbitrary<infer C> ? C : never)[]): Promise<void> => {
      const scope = createScope();
      try {
        const { store, reopen } = await create(scope, () => new Date());
        const model = new Map<string, { value: number; version: number }>();
        let old = 0;
        for (const { name: key, value, expected } of changes) {
          const current = model.get(key)?.version ?? 0;
          const versions = { any: undefined, current: [current], none: [0], old: [old] }[expected];
          old = current;
          const isRefused = versions !== undefined && !versions.includes(current);
          if (isRefused) {
            const attempt =
              value === null ? store.delete('k', key, 'a', versions) : store.put('k', key, value, 'a', versions);
            await assert.rejects(attempt, StoreConflict);
          } else if (value === null) {
            assert.equal(await store.delete('k', key, 'a', versions), model.delete(key));
          } else {
            const { version } = await store.put('k', key, value, 'a', versions);
            assert.ok([...model.values()].every((one) => one.version < version));
            model.set(key, { value, version });
          }
        }
        const expected = [...model].map(([key, one]) => ({ name: key, ...one }));
        const read = (one: LoggedSettings) =>
          one.list('k').map(({ name: key, value, version }) => ({ name: key, value, version }));
        assert.deepEqual(read(store), expected);
        assert.deepEqual(read(await reopen()), expected);
      } finally {
        await scope.end();
      }
    };
    await fc.assert(fc.asyncProperty(fc.array(change, { maxLength: 20 }), run), { numRuns: amount(10, 200) });
  });
};

testSettings('file', createInFiles);
if (!skip) testSettings('postgres', createInPostgres);

test('postgres: an instance sees what another one has changed, and one of two changes at once counts', {
  skip,
}, async (t) => {
  const url = await createDatabase(t);
  const clock = () => new Date();
  const [one, two] = await Promise.all([openInstance(t, url, clock), openInstance(t, url, clock)]);
  const { version } = await one.store.put('a', 'x', 0, 'anna');
  let last = version;
  await waitUntil('the other one has it', () => two.store.find('a', 'x')?.version === version);
  for (let round = 0; round < amount(5, 50); round += 1) {
    const attempts = [one, two].flatMap(({ store }, index) =>
      [1, 2].map((each) => store.put('a', 'x', `${round} ${index} ${each}`, 'anna', [last])),
    );
    const outcomes = await Promise.allSettled(attempts);
    const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    assert.equal(won.length, 1);
    last = won[0]?.version ?? 0;
  }
  await Promise.all([one.store.catchUp(), two.store.catchUp()]);
  assert.deepEqual(one.store.list('a'), two.store.list('a'));
  assert.equal(one.store.find('a', 'x')?.version, last);
});

test('file: a line that is damaged is reported, and the other changes count', async (t) => {
  const directory = createFolder(t);
  const log = await openLog(t, directory);
  const store = await openSettings(t, log, () => new Date());
  for (const name of ['x', 'y', 'z']) await store.put('a', name, name, 'anna');
  await log.close();
  const path = join(directory, 'settings.jsonl');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"value":"y"', '"value":"!"'));
  appendFileSync(path, '{"kind":"a","na');
  let damaged = 0;
  const again = await LoggedSettings.open({
    log: await openLog(t, directory),
    clock: () => new Date(),
    onDamage: (lines) => {
      damaged += lines;
    },
  });
  atEnd(t, () => again.close());
  assert.deepEqual(
    again.list('a').map(({ name }) => name),
    ['x', 'z'],
  );
  assert.equal(damaged, 1);
  await again.put('a', 'w', 'w', 'anna');
  assert.equal(again.list('a').length, 3);
});

test('file: settings whose log was moved away are stored again, with their versions', async (t) => {
  const directory = createFolder(t);
  const log = await openLog(t, directory);
  const store = await openSettings(t, log, () => new Date());
  await store.put('a', 'x', 1, 'anna');
  await store.put('a', 'x', 2, 'anna');
  renameSync(join(directory, 'settings.jsonl'), join(directory, 'moved'));
  await log.reopen();
  await store.copy();
  const before = store.list('a');
  await log.close();
  const moved = await openLog(t, directory);
  const again = await openSettings(t, moved, () => new Date());
  assert.deepEqual(again.list('a'), before);
  const { records } = await moved.search({ limit: 10, maxBytes: 1e6, test: (record) => again.isEffective(record) });
  assert.deepEqual(records, []);
});

test('file: what is deleted or changed while the settings are stored again stays so', async (t) => {
  const directory = createFolder(t);
  const log = await openLog(t, directory);
  const store = await openSettings(t, log, () => new Date());
  const names = Array.from({ length: 60 }, (_, index) => `s${index}`);
  await Promise.all(names.map((name) => store.put('a', name, 'old', 'anna')));
  renameSync(join(directory, 'settings.jsonl'), join(directory, 'moved'));
  await log.reopen();
  const changes = names.map((name, index) =>
    index % 2 === 0 ? store.delete('a', name, 'anna') : store.put('a', name, 'new', 'anna'),
  );
  const copied = store.copy();
  await Promise.all([...changes, copied]);
  await log.close();
  const again = await openSettings(t, await openLog(t, directory), () => new Date());
  for (const one of [store, again]) {
    assert.deepEqual([...new Set(one.list('a').map(({ value }) => value))], ['new']);
    assert.equal(one.list('a').length, 30);
  }
});

test('file: a change that cannot be stored is refused, and the settings stay', async (t) => {
  const directory = createFolder(t);
  const log = await openLog(t, directory);
  const store = await openSettings(t, log, () => new Date());
  await store.put('a', 'x', 1, 'anna');
  await log.close();
  await assert.rejects(store.put('a', 'x', 2, 'anna'), StoreUnavailable);
  assert.equal(store.find('a', 'x')?.value, 1);
});
