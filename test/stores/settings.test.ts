import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { LoggedSettings } from '../../src/features/settings/store.ts';
import type { PutOptions } from '../../src/kit/setting-store.ts';
import { StoreConflict, StoreUnavailable } from '../../src/lib/expected-errors.ts';
import { type Journal, openJournal } from '../../src/storage/journal/journal.ts';
import type { JournalEvent, JournalOptions } from '../../src/storage/journal/options.ts';
import { Database } from '../../src/storage/postgres/database.ts';
import { DatabaseLog } from '../../src/storage/postgres/database-log.ts';
import type { RecordLog } from '../../src/storage/record-log.ts';
import { createSnapshotFile } from '../../src/storage/snapshot-file.ts';
import { createFolder } from '../support/folder.ts';
import { amount } from '../support/long.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { atEnd, createScope, type Scope } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';

const skip = toSkipPostgres();
const ignore = (): void => undefined;
const MiB = 1024 * 1024;

/** Store with a log that outlives it. */
interface SettingsLife {
  store: LoggedSettings;
  log: RecordLog;
  /** Reopens the log. With files, this happens after the first store was closed. */
  reopen(): Promise<LoggedSettings>;
}

type CreateSettings = (t: Scope, clock: () => Date) => Promise<SettingsLife>;

const openSettings = async (t: Scope, log: RecordLog, clock: () => Date, directory?: string) => {
  const state = directory === undefined ? undefined : createSnapshotFile(join(directory, 'settings.state'));
  const [onBroken, onDamage, onUnsaved] = [assert.fail, assert.fail, assert.fail];
  const store = await LoggedSettings.open({ log, state, clock, onBroken, onDamage, onUnsaved });
  atEnd(t, () => store.close());
  return store;
};

const openLog = async (t: Scope, directory: string, options: Partial<JournalOptions> = {}): Promise<Journal> => {
  const log = await openJournal({ directory, name: 'settings', minFreeBytes: 0, recentCount: 1000, ...options });
  atEnd(t, () => log.close());
  return log;
};

/** Opens a log and collects the damage that is reported. */
const openDamagedLog = async (t: Scope, directory: string) => {
  const damages: string[] = [];
  const report = (event: JournalEvent): void => void (event.type === 'damaged' && damages.push(event.damage));
  return { log: await openLog(t, directory, { expects: 'all', report }), damages };
};

const createInFiles: CreateSettings = async (t, clock) => {
  const directory = createFolder(t);
  const log = await openLog(t, directory);
  const store = await openSettings(t, log, clock, directory);
  const reopen = async () => {
    await store.close();
    await log.close();
    return openSettings(t, await openLog(t, directory), clock, directory);
  };
  return { store, log, reopen };
};

const openInstance = async (t: Scope, url: string, clock: () => Date) => {
  const identity = { instance: randomUUID(), name: 'test', version: '0' };
  const common = { secret: 'x'.repeat(32), timeZone: 'UTC' };
  const database = new Database(url, identity, common, { report: ignore, onRefused: ignore, onCommit: ignore });
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
  test(`${name}: settings are created, changed and deleted, and survive a restart`, async (t) => {
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

  test(`${name}: a change of another version is refused, and so is the second of two concurrent changes`, async (t) => {
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

  test(`${name}: a value that is too large is refused`, async (t) => {
    const { store } = await create(t, () => new Date());
    await assert.rejects(store.put('a', 'x', 'x'.repeat(70_000), 'anna'), { status: 413 });
    assert.deepEqual(store.list('a'), []);
  });

  test(`${name}: concurrent changes never exceed a limit, and expired settings make room`, async (t) => {
    const { store, reopen } = await create(t, () => new Date(1000));
    const options = { limit: { count: 5, plural: 'things' } };
    const putMany = (kind: string, options: PutOptions, toValue: (index: number) => unknown) =>
      Promise.allSettled(
        Array.from({ length: 32 }, (_, index) => store.put(kind, `n${index}`, toValue(index), 'a', [0], options)),
      );
    const isStored = ({ status }: { status: string }) => status === 'fulfilled';
    assert.equal((await putMany('count', options, Number)).filter(isStored).length, 5);
    assert.equal(store.list('count').length, 5);
    await assert.rejects(store.put('count', 'one', 1, 'a', [0], options), {
      status: 409,
      message: /There are already 5 things/,
    });
    await store.put('count', 'n0', 'changed', 'a', undefined, options);
    const large = await putMany('size', { characters: 10_000 }, () => 'x'.repeat(998));
    assert.equal(large.filter(isStored).length, 10);
    await assert.rejects(store.put('size', 'one', 'x', 'a', [0], { characters: 10_000 }), { status: 409 });
    await store.put('size', 'one', 'x', 'a', undefined, { isRevocation: true });
    assert.equal(await store.delete('size', 'n0', 'a'), true);
    await putMany('ended', options, () => ({ endsAt: 2000 }));
    await store.put('ended', 'n3', { endsAt: 900, comment: 'ended' }, 'a', undefined, options);
    await store.put('ended', 'new', { endsAt: 2000 }, 'a', [0], options);
    assert.equal(store.find('ended', 'n3'), undefined);
    await assert.rejects(store.put('ended', 'newer', { endsAt: 2000 }, 'a', [0], options), { status: 409 });
    await store.put('ended', 'n0', { endsAt: 1000, comment: 'ended' }, 'a', undefined, options);
    await store.put('ended', 'newer', { endsAt: 2000 }, 'a', [0], options);
    const caseless = { isCaseless: true };
    const names = ['Anna', 'anna', 'ANNA'].map((each) => store.put('user', each, 1, 'a', [0], caseless));
    assert.equal((await Promise.allSettled(names)).filter(isStored).length, 1);
    const again = await reopen();
    for (const kind of ['count', 'size', 'ended', 'user']) assert.deepEqual(again.list(kind), store.list(kind));
  });

  test(`${name}: changes lead to the settings of a simple model, also after a restart`, async () => {
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

test('postgres: an instance sees the changes of another instance, and one of two concurrent changes counts', {
  skip,
}, async (t) => {
  const url = await createDatabase(t);
  const clock = () => new Date();
  const [one, two] = await Promise.all([openInstance(t, url, clock), openInstance(t, url, clock)]);
  const { version } = await one.store.put('a', 'x', 0, 'anna');
  let last = version;
  await waitUntil('the other instance has the setting', () => two.store.find('a', 'x')?.version === version);
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

test('postgres: concurrent changes at two instances never exceed a limit', { skip }, async (t) => {
  const url = await createDatabase(t);
  const clock = () => new Date();
  const instances = await Promise.all([openInstance(t, url, clock), openInstance(t, url, clock)]);
  const options = { limit: { count: 5, plural: 'things' }, isCaseless: true };
  const attempts = Array.from({ length: 32 }, (_, index) =>
    instances[index % 2]?.store.put('a', `n${index}`, 1, 'a', [0], options),
  );
  const same = instances.map(({ store }, index) => store.put('b', index === 0 ? 'X' : 'x', 1, 'a', [0], options));
  const isStored = ({ status }: { status: string }) => status === 'fulfilled';
  const [different, equal] = await Promise.all([Promise.allSettled(attempts), Promise.allSettled(same)]);
  assert.equal(different.filter(isStored).length, 5);
  assert.equal(equal.filter(isStored).length, 1);
  for (const { store } of instances) {
    await store.catchUp();
    assert.equal(store.list('a').length, 5);
    assert.equal(store.list('b').length, 1);
  }
});

test('file: a damaged line and a removed line are reported by file and place, and the other changes count', async (t) => {
  const directory = createFolder(t);
  const log = await openLog(t, directory);
  const store = await openSettings(t, log, () => new Date());
  for (const name of ['x', 'y', 'z']) await store.put('a', name, name, 'anna');
  await store.delete('a', 'x', 'anna');
  await store.put('a', 'v', 'v', 'anna');
  await log.close();
  const path = join(directory, 'settings.jsonl');
  const lines = readFileSync(path, 'utf8').split('\n');
  const kept = lines.filter((line) => !line.includes('"value":null'));
  writeFileSync(path, kept.join('\n').replace('"value":"y"', '"value":"!"'));
  appendFileSync(path, '{"kind":"a","na');
  const { log: damaged, damages } = await openDamagedLog(t, directory);
  const again = await openSettings(t, damaged, () => new Date());
  const names = again.list('a').map(({ name }) => name);
  assert.deepEqual(names, ['x', 'z', 'v']);
  const place = (lines[0] ?? '').length + 1;
  assert.deepEqual(damages, [
    `the line at byte ${place} of settings.jsonl cannot be read`,
    'record 4 is missing in settings.jsonl',
  ]);
  await again.put('a', 'w', 'w', 'anna');
  assert.equal(again.list('a').length, 4);
});

test('file: a removed first line is reported', async (t) => {
  const directory = createFolder(t);
  const log = await openLog(t, directory);
  const store = await openSettings(t, log, () => new Date());
  for (const name of ['x', 'y']) await store.put('a', name, name, 'anna');
  await log.close();
  const path = join(directory, 'settings.jsonl');
  writeFileSync(path, readFileSync(path, 'utf8').replace(/.*\n/, ''));
  const { log: damaged, damages } = await openDamagedLog(t, directory);
  await openSettings(t, damaged, () => new Date());
  assert.deepEqual(damages, ['record 1 is missing in settings.jsonl']);
});

test('file: settings whose log was moved away survive a restart, with their versions', async (t) => {
  const directory = createFolder(t);
  const log = await openLog(t, directory);
  const store = await openSettings(t, log, () => new Date(), directory);
  await store.put('a', 'x', 1, 'anna');
  await store.put('a', 'x', 2, 'anna');
  renameSync(join(directory, 'settings.jsonl'), join(directory, 'moved'));
  await log.reopen();
  await store.save();
  const before = store.list('a');
  await store.close();
  await log.close();
  const { log: moved, damages } = await openDamagedLog(t, directory);
  const again = await openSettings(t, moved, () => new Date(), directory);
  assert.deepEqual(again.list('a'), before);
  const { version } = await again.put('a', 'y', 1, 'anna');
  assert.equal(version, 3);
  assert.deepEqual(damages, []);
});

test('file: many changes of one setting leave a small folder, and a restart reads little', async (t) => {
  const directory = createFolder(t);
  const options = { segmentBytes: MiB, retainBytes: MiB, awaitsHold: true, expects: 'all' } as const;
  const log = await openLog(t, directory, options);
  const store = await openSettings(t, log, () => new Date(), directory);
  const text = 'x'.repeat(60_000);
  for (let count = 0; count < 120; count += 1) await store.put('a', 'x', `${text}${count}`, 'anna');
  await store.put('b', 'y', 1, 'anna');
  const before = [...store.list('a'), ...store.list('b')];
  await store.save();
  await log.reopen();
  await store.close();
  await log.close();
  const size = readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
  assert.ok(size < 5 * MiB, `${size} bytes`);
  const reopened = await openLog(t, directory, options);
  const again = await openSettings(t, reopened, () => new Date(), directory);
  assert.deepEqual([...again.list('a'), ...again.list('b')], before);
});

test('file: a change that a failing disk refuses leaves no gap that the next start reports', async (t) => {
  const directory = createFolder(t);
  const log = await openLog(t, directory);
  const store = await openSettings(t, log, () => new Date(), directory);
  await store.put('a', 'x', 1, 'anna');
  // Writes fail because a folder has the file's name.
  const path = join(directory, 'settings.jsonl');
  renameSync(path, join(directory, 'settings.00000001.jsonl'));
  mkdirSync(path);
  await assert.rejects(store.put('a', 'x', 2, 'anna'), StoreUnavailable);
  rmdirSync(path);
  await waitUntil('the log is written again', () => store.put('a', 'x', 3, 'anna').then(Boolean, () => false));
  await waitUntil('the state is saved', () => existsSync(join(directory, 'settings.state')));
  await store.close();
  await log.close();
  const { log: reopened, damages } = await openDamagedLog(t, directory);
  const again = await openSettings(t, reopened, () => new Date(), directory);
  assert.deepEqual(again.list('a'), store.list('a'));
  assert.deepEqual(damages, []);
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
