import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { createFolder } from '../../test/support/folder.ts';
import { createLedgerEvents, Ledger, type LedgerEvent } from '../../test/support/ledger.ts';
import { amount } from '../../test/support/long.ts';
import { atEnd, createScope, type Scope } from '../../test/support/scope.ts';
import { waitUntil } from '../../test/support/wait.ts';
import { JournalError } from './journal/errors.ts';
import { type Journal, openJournal } from './journal/journal.ts';
import { type StoredRecord, toMark } from './journal/line.ts';
import { Projection } from './projection.ts';
import type { FollowedLog } from './record-log.ts';
import { type ProjectionSnapshot, refuseDamage } from './snapshot.ts';
import { createSnapshotFile } from './snapshot-file.ts';

type Extras = Partial<
  Pick<Parameters<typeof Projection.open<Ledger>>[0], 'begin' | 'savesForRetention' | 'onReplaced' | 'isRestoredLater'>
>;

type Change = Extras & {
  /** Methods that override those of the log, of the snapshot, or of both. */
  log?: (log: Journal) => Partial<Journal>;
  snapshot?: (snapshot: ProjectionSnapshot) => Partial<ProjectionSnapshot>;
  needsAll?: boolean;
  segmentBytes?: number;
  retainBytes?: number;
  onSync?: () => void;
};

/** Opens a process that uses the ledger in a folder. */
const openLife = async (t: Scope, directory: string, { log: changeLog, snapshot: change, ...rest }: Change = {}) => {
  const { needsAll = false, segmentBytes = 2000, onSync = () => undefined, retainBytes = 1, ...extras } = rest;
  const damages: string[] = [];
  const unsaved: Error[] = [];
  let opened: Projection<Ledger> | undefined;
  const journal = await openJournal({
    directory,
    name: 'ledger',
    segmentBytes,
    retainBytes,
    awaitsHold: true,
    expects: 'all',
    recentCount: 10,
    minFreeBytes: 0,
    retryMs: 5,
    onSync,
    report: (event) => {
      if (event.type === 'damaged') damages.push(event.damage);
    },
  });
  const file = createSnapshotFile(join(directory, 'ledger.state'));
  const snapshot: ProjectionSnapshot = {
    get size() {
      return file.size;
    },
    read: (restore, onDamage) => file.read(restore, onDamage),
    write: (seq, entries) => file.write(seq, entries),
  };
  const close = async (): Promise<void> => {
    await opened?.close();
    await journal.close();
  };
  atEnd(t, close);
  const projection = await Projection.open({
    ...extras,
    log: { ...journal, ...changeLog?.(journal) },
    createState: () => new Ledger(),
    snapshot: Object.assign(Object.create(snapshot), change?.(snapshot)) as ProjectionSnapshot,
    ...(needsAll ? { onDamage: refuseDamage, onGap: refuseDamage } : { onDamage: (damage) => damages.push(damage) }),
    onUnsaved: (error) => unsaved.push(error),
  });
  opened = projection;
  return { projection, journal, damages, unsaved, close, read: () => projection.state.read() };
};

const withScope = async (run: (scope: Scope) => Promise<void>): Promise<void> => {
  const scope = createScope();
  try {
    await run(scope);
  } finally {
    await scope.end();
  }
};

/** Checks a property on a number of cases. */
const check = <T>(cases: fc.Arbitrary<T>, runs: number, run: (value: T, scope: Scope) => Promise<void>) =>
  fc.assert(
    fc.asyncProperty(cases, (value) => withScope((scope) => run(value, scope))),
    { numRuns: runs },
  );

const events = createLedgerEvents(fc);

test('concurrent and sequential events lead to the state of a simple model, across snapshots and restarts', async (t) => {
  const step = fc.oneof(
    { arbitrary: fc.array(events, { minLength: 1, maxLength: 12 }), weight: 4 },
    { arbitrary: fc.constantFrom('save', 'restart'), weight: 1 },
  );
  const root = createFolder(t);
  let count = 0;
  await check(fc.array(step, { maxLength: 12 }), amount(15, 300), async (steps, scope) => {
    count += 1;
    const directory = join(root, String(count));
    const model = new Ledger();
    let seq = 0;
    let life = await openLife(scope, directory, { needsAll: true });
    for (const next of steps) {
      if (next === 'save') await life.projection.save();
      else if (next === 'restart') {
        await life.close();
        life = await openLife(scope, directory, { needsAll: true });
      } else {
        const outcomes = await Promise.all(next.map((event) => life.projection.append(event)));
        for (const [index, event] of next.entries()) {
          seq += 1;
          assert.deepEqual(outcomes[index], model.fold({ ...event, id: '', seq }));
        }
      }
      assert.deepEqual(life.read(), model.read());
    }
  });
});

/** Folder as a kill leaves it, with the acknowledged events and the events that were being stored. */
interface Picture {
  folder: string;
  acknowledged: number;
  attempted: number;
}

test('a kill before, during or after the write of an event or a snapshot loses no acknowledged event', async (t) => {
  const root = createFolder(t);
  const directory = join(root, 'killed');
  const pictures: Picture[] = [];
  const sent: LedgerEvent[] = [];
  let acknowledged = 0;
  const take = (): void => {
    const folder = join(root, String(pictures.length));
    // The lock is the socket of the process.
    cpSync(directory, folder, { recursive: true, filter: (path) => !path.includes('.lock') });
    pictures.push({ folder, acknowledged, attempted: sent.length });
  };
  const { projection, close } = await openLife(t, directory, {
    log: (log) => ({
      appendAll: async (records, ids) => {
        take();
        const appended = await log.appendAll(records, ids);
        take();
        return appended;
      },
    }),
    snapshot: (snapshot) => ({
      write: async (seq, entries) => {
        function* watch() {
          for (const piece of entries) {
            take();
            yield piece;
          }
          // Longer than a single write.
          yield [{ text: 'x'.repeat(70_000) }];
          take();
        }
        await snapshot.write(seq, watch());
        take();
      },
    }),
  });
  for (const event of fc.sample(events, { numRuns: 40, seed: 1 })) {
    sent.push(event);
    await projection.append(event);
    acknowledged += 1;
    if (acknowledged % 8 === 0) await projection.save();
  }
  await close();
  assert.ok(pictures.length > 100);
  for (const { folder, acknowledged: least, attempted } of pictures) {
    const toModel = (count: number): Ledger => {
      const model = new Ledger();
      for (const [index, event] of sent.slice(0, count).entries()) model.fold({ ...event, id: '', seq: index + 1 });
      return model;
    };
    await withScope(async (scope) => {
      const { projection: again, read, close: end } = await openLife(scope, folder, { needsAll: true });
      const possible = Array.from({ length: attempted - least + 1 }, (_, more) => toModel(least + more));
      const found = possible.find((model) => JSON.stringify(model.read()) === JSON.stringify(read()));
      assert.ok(found, `${folder} has neither the acknowledged events nor one more`);
      await again.append({ name: 'later', amount: 1 });
      const before = read();
      await end();
      const last = await openLife(scope, folder, { needsAll: true });
      assert.deepEqual(last.read(), before);
    });
  }
});

const isUnavailable = (error: unknown): boolean => error instanceof JournalError && error.code === 'unavailable';

test('an event whose append failed is not folded, now or after a restart, whether the log has it or not', async (t) => {
  const root = createFolder(t);
  let count = 0;
  const step = fc.record({ event: events, fate: fc.constantFrom('stored', 'stored', 'kept', 'lost', 'unsaved') });
  await check(fc.array(step, { minLength: 1, maxLength: 12 }), amount(15, 300), async (steps, scope) => {
    count += 1;
    const directory = join(root, String(count));
    let fate = 'stored';
    const { projection, read, close } = await openLife(scope, directory, {
      log: (log) => ({
        // Readers do not hear of a failed record, although the file may contain it.
        onStored: (listener) => log.onStored((seq) => fate === 'stored' && listener(seq)),
        appendAll: async (records, ids) => {
          if (fate === 'lost') throw new JournalError('unavailable', 'the disk is full');
          const appended = await log.appendAll(records, ids);
          if (fate !== 'stored') throw new JournalError('unavailable', 'the sync failed');
          return appended;
        },
      }),
      snapshot: (snapshot) => ({
        write: (seq, entries) =>
          fate === 'unsaved' ? Promise.reject(new Error('the disk is full')) : snapshot.write(seq, entries),
      }),
    });
    const model = new Ledger();
    let seq = 0;
    for (const { event, fate: next } of steps) {
      fate = next;
      if (next === 'stored') {
        seq += 1;
        assert.deepEqual(await projection.append(event), model.fold({ ...event, id: '', seq }));
      } else {
        await assert.rejects(projection.append(event), isUnavailable);
        // Without a snapshot, nothing else is stored.
        if (next === 'unsaved') await assert.rejects(projection.append({ name: 'later', amount: 1 }), isUnavailable);
      }
      assert.deepEqual(read(), model.read());
    }
    fate = 'stored';
    await waitUntil('nothing is in doubt', () => projection.isReady);
    await close();
    const again = await openLife(scope, directory, { needsAll: true });
    assert.deepEqual(again.read(), model.read());
  });
});

test('an event whose sync failed leaves no gap that a restart refuses', async (t) => {
  const directory = createFolder(t);
  let isFailing = false;
  const onSync = (): void => {
    if (!isFailing) return;
    isFailing = false;
    throw new Error('the sync failed');
  };
  const { projection, read, journal, close } = await openLife(t, directory, { needsAll: true, onSync });
  await projection.append({ name: 'a', amount: 1 });
  isFailing = true;
  await assert.rejects(projection.append({ name: 'a', amount: 2 }), isUnavailable);
  await waitUntil('nothing is in doubt', () => projection.isReady);
  assert.deepEqual([journal.state().lastSeq, journal.state().assignedSeq], [1, 2]);
  await projection.append({ name: 'a', amount: 4 });
  await close();
  const again = await openLife(t, directory, { needsAll: true });
  assert.deepEqual(again.read(), [['a', 5]]);
  assert.deepEqual(again.read(), read());
  assert.deepEqual(again.damages, []);
});

test('a record that is refused because space is low is certainly not stored, so the next record needs no snapshot first', async (t) => {
  let isFull = false;
  const { projection, read } = await openLife(t, createFolder(t), {
    log: (log) => ({
      appendAll: (records, ids) => {
        const cause = new JournalError('low-space', 'little is free');
        return isFull
          ? Promise.reject(new JournalError('unavailable', 'full', { cause }))
          : log.appendAll(records, ids);
      },
    }),
    snapshot: () => ({ write: () => assert.fail('a snapshot is written') }),
  });
  isFull = true;
  await assert.rejects(projection.append({ name: 'a', amount: 1 }), isUnavailable);
  assert.equal(projection.isReady, true);
  isFull = false;
  await projection.append({ name: 'a', amount: 2 });
  assert.deepEqual(read(), [['a', 2]]);
});

const snapshotCount = 10;

/** Creates a folder with a snapshot of some events, and later events in the log. */
const createDamaged = async (t: Scope) => {
  const directory = createFolder(t);
  const { projection, close, read } = await openLife(t, directory, { segmentBytes: 1e6 });
  for (const event of fc.sample(events, { numRuns: snapshotCount, seed: 2 })) await projection.append(event);
  await projection.save();
  for (const event of fc.sample(events, { numRuns: 10, seed: 3 })) await projection.append(event);
  const state = read();
  await close();
  const path = (name: string) => join(directory, name);
  return { directory, state, snapshot: path('ledger.state'), log: path('ledger.jsonl') };
};

/** Opens the folder in both modes: one refuses damage, and the other reports it. */
const assertNoticed = async (
  scope: Scope,
  { directory, state, isWhole }: { directory: string; state: unknown; isWhole?: boolean },
): Promise<void> => {
  const { read, damages, close } = await openLife(scope, directory);
  const found = read();
  await close();
  const opening = openLife(scope, directory, { needsAll: true });
  if (isWhole ?? damages.length === 0) {
    assert.deepEqual(found, state);
    assert.deepEqual((await opening).read(), state);
  } else {
    assert.notEqual(damages.length, 0);
    await assert.rejects(opening, { code: 'damaged' });
  }
};

test('a snapshot that is cut or changed at any byte is reported, or refused by projections that need every event', async (t) => {
  const { directory, state, snapshot } = await createDamaged(t);
  const bytes = readFileSync(snapshot);
  const root = createFolder(t);
  const place = fc.record({ at: fc.nat(bytes.length - 1), byte: fc.option(fc.nat(255)) });
  let count = 0;
  await check(place, amount(40, 1000), async ({ at, byte }, scope) => {
    count += 1;
    const copy = join(root, String(count));
    cpSync(directory, copy, { recursive: true });
    const changed = byte === null ? bytes.subarray(0, at) : Buffer.from(bytes);
    if (byte !== null) changed[at] = byte;
    writeFileSync(join(copy, 'ledger.state'), changed);
    await assertNoticed(scope, { directory: copy, state });
  });
});

test('an event that is missing or damaged in the log is reported, or refused by projections that need every event', async (t) => {
  const { directory, log, state } = await createDamaged(t);
  const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1);
  const root = createFolder(t);
  const edits: [string, (line: string) => string[]][] = [
    ['missing', () => []],
    ['damaged', (line) => [line.replace('"amount"', '"amounT"')]],
  ];
  for (const [what, edit] of edits) {
    for (const [index] of lines.entries()) {
      // The last event may have been lost before it was acknowledged.
      if (index === lines.length - 1) continue;
      const copy = join(root, `${what}-${index}`);
      cpSync(directory, copy, { recursive: true });
      const changed = lines.flatMap((line, at) => (at === index ? edit(line) : [line]));
      writeFileSync(join(copy, 'ledger.jsonl'), changed.map((line) => `${line}\n`).join(''));
      // Events before the snapshot do not count.
      await withScope((scope) => assertNoticed(scope, { directory: copy, state, isWhole: index < snapshotCount }));
    }
  }
});

test('a log with only a mark and no snapshot is refused by projections that need every event', async (t) => {
  const { directory, snapshot, log } = await createDamaged(t);
  rmSync(snapshot);
  writeFileSync(log, toMark(20));
  await withScope(async (scope) => {
    const refusal = { code: 'damaged', message: /records 1 to 20/ };
    await assert.rejects(openLife(scope, directory, { needsAll: true }), refusal);
  });
  const { projection, read, journal } = await openLife(t, directory);
  assert.deepEqual(read(), []);
  assert.equal(projection.isCurrent, true);
  await projection.append({ name: 'a', amount: 1 });
  assert.equal(journal.state().lastSeq, 21);
});

test('an unfinished snapshot is ignored', async (t) => {
  const { directory, state, snapshot } = await createDamaged(t);
  writeFileSync(`${snapshot}.new`, readFileSync(snapshot).subarray(0, 40));
  const { read, damages } = await openLife(t, directory, { needsAll: true });
  assert.deepEqual(read(), state);
  assert.deepEqual(damages, []);
  assert.equal(existsSync(`${snapshot}.new`), false);
});

test('events of a log that is moved away at any time survive a restart, and no seq repeats', async (t) => {
  const root = createFolder(t);
  let count = 0;
  const step = fc.oneof({ arbitrary: events, weight: 3 }, { arbitrary: fc.constantFrom('move', 'restart'), weight: 1 });
  await check(fc.array(step, { maxLength: 20 }), amount(15, 300), async (steps, scope) => {
    count += 1;
    const directory = join(root, String(count));
    let life = await openLife(scope, directory, { needsAll: true, segmentBytes: 1e6 });
    const seqs = new Set<number>();
    for (const [index, next] of steps.entries()) {
      if (next === 'move') {
        // As with logrotate: on a signal, the program opens a new file and saves a snapshot.
        const path = join(directory, 'ledger.jsonl');
        if (existsSync(path)) renameSync(path, join(directory, `moved-${index}`));
        await life.journal.reopen();
        await life.projection.save();
      } else if (next === 'restart') {
        const before = life.read();
        await life.close();
        life = await openLife(scope, directory, { needsAll: true, segmentBytes: 1e6 });
        assert.deepEqual(life.read(), before);
      } else {
        await life.projection.append(next);
        seqs.add(life.journal.state().lastSeq);
      }
    }
    assert.equal(seqs.size, steps.filter((next) => typeof next === 'object').length);
  });
});

test('a lost log continues after the snapshot as soon as it can be written', async (t) => {
  const directory = createFolder(t);
  await createSnapshotFile(join(directory, 'ledger.state')).write(10, [[{ name: 'a', total: 7 }]]);
  let isFull = true;
  const { projection, journal, read } = await openLife(t, directory, {
    log: (log) => ({
      appendAll: (records, ids) =>
        isFull ? Promise.reject(new JournalError('unavailable', 'full')) : log.appendAll(records, ids),
    }),
  });
  assert.deepEqual(read(), [['a', 7]]);
  await assert.rejects(projection.append({ name: 'a', amount: 1 }), isUnavailable);
  isFull = false;
  assert.deepEqual(await projection.append({ name: 'a', amount: 1 }), { total: 8 });
  assert.equal(journal.state().lastSeq, 11);
});

test('the log before a snapshot is deleted, and a snapshot that cannot be written is reported once and keeps the log', async (t) => {
  const directory = createFolder(t);
  let isFull = true;
  let written = 0;
  const { projection, unsaved, journal } = await openLife(t, directory, {
    snapshot: (snapshot) => ({
      write: async (seq, entries) => {
        if (isFull) throw new Error('full');
        await snapshot.write(seq, entries);
        written += 1;
      },
    }),
  });
  for (let index = 0; index < 100; index += 1) await projection.append({ name: 'a', amount: index });
  const count = () => readdirSync(directory).filter((name) => /^ledger\.\d+\.jsonl$/.test(name)).length;
  const before = count();
  assert.ok(before > 3);
  for (let attempt = 0; attempt < 2; attempt += 1) await assert.rejects(projection.save(), /full/);
  await journal.reopen();
  assert.deepEqual([count(), unsaved.length], [before, 1]);
  isFull = false;
  await projection.save();
  await waitUntil('the log is deleted', () => count() <= 1);
  await projection.save();
  assert.equal(written, 1, 'a snapshot that is current is not written again');
});

test('a snapshot is saved as soon as segments of a log with its own retention wait for it', async (t) => {
  const directory = createFolder(t);
  const options = { retainBytes: 4000, savesForRetention: true };
  const { projection, read, close } = await openLife(t, directory, options);
  for (let index = 0; index < 200; index += 1) await projection.append({ name: 'a', amount: 1 });
  const count = () => readdirSync(directory).filter((name) => /^ledger\.\d+\.jsonl$/.test(name)).length;
  await waitUntil('the log is as short as it should be', () => count() <= 3);
  await close();
  const again = await openLife(t, directory, options);
  assert.deepEqual(again.read(), read());
});

test('without a snapshot, a projection begins after the seq of `begin`, also after a kill', async (t) => {
  const directory = createFolder(t);
  const before = await openLife(t, directory);
  for (let index = 0; index < 5; index += 1) await before.projection.append({ name: 'old', amount: 1 });
  await before.close();
  rmSync(join(directory, 'ledger.state'), { force: true });
  let begun = 0;
  const begin = async (state: Ledger): Promise<number> => {
    begun += 1;
    state.restore({ name: 'former', total: 7 });
    return 3;
  };
  for (let life = 0; life < 2; life += 1) {
    const { projection, read, close } = await openLife(t, directory, { begin, isRestoredLater: true });
    await projection.catchUp();
    assert.deepEqual(read(), [
      ['former', 7],
      ['old', 2],
    ]);
    await close();
  }
  assert.equal(begun, 1);
});

test('a beginning that cannot be saved is used nevertheless, and saved once it can be', async (t) => {
  const directory = createFolder(t);
  let isFull = true;
  let begun = 0;
  const begin = async (state: Ledger): Promise<number> => {
    begun += 1;
    state.restore({ name: 'former', total: 7 });
    return 0;
  };
  const { projection, read, unsaved, close } = await openLife(t, directory, {
    begin,
    snapshot: (snapshot) => ({
      write: (seq, entries) => (isFull ? Promise.reject(new Error('full')) : snapshot.write(seq, entries)),
    }),
  });
  assert.deepEqual([read(), unsaved.length, projection.unsaved?.message], [[['former', 7]], 1, 'full']);
  isFull = false;
  await projection.save();
  assert.equal(projection.unsaved, undefined);
  await close();
  await (await openLife(t, directory, { begin })).close();
  assert.equal(begun, 1);
});

test('while a snapshot is written, no other is due, however much the log grows', async (t) => {
  let written = 0;
  let release: () => void = () => undefined;
  const { projection } = await openLife(t, createFolder(t), {
    segmentBytes: 1e8,
    snapshot: (snapshot) => ({
      write: async (seq, entries) => {
        written += 1;
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        await snapshot.write(seq, entries);
      },
    }),
  });
  const text = 'x'.repeat(500_000);
  for (let index = 0; index < 30; index += 1) await projection.append({ name: 'a', amount: 1, text });
  release();
  await projection.append({ name: 'a', amount: 1 });
  await setImmediate();
  assert.equal(written, 1);
  release();
});

test('a projection whose state stays empty begins only once', async (t) => {
  const directory = createFolder(t);
  let begun = 0;
  const begin = async (state: Ledger): Promise<number> => {
    begun += 1;
    state.restore({ name: 'former', total: 0 });
    return 0;
  };
  for (let life = 0; life < 2; life += 1) await (await openLife(t, directory, { begin })).close();
  assert.equal(begun, 1);
});

test('the state of a replaced log follows the new log from its end, and nothing is appended', async (t) => {
  const directory = createFolder(t);
  const first = await openLife(t, directory);
  for (let index = 0; index < 5; index += 1) await first.projection.append({ name: 'a', amount: 1 });
  await first.projection.save();
  await first.close();
  for (const name of readdirSync(directory)) if (name.endsWith('.jsonl')) rmSync(join(directory, name));
  let replaced = 0;
  const onReplaced = (): void => {
    replaced += 1;
  };
  const second = await openLife(t, directory, { onReplaced });
  await second.projection.append({ name: 'a', amount: 1 });
  assert.equal(second.journal.state().lastSeq, 1);
  await second.close();
  const third = await openLife(t, directory, { onReplaced });
  assert.deepEqual([third.read(), replaced], [[['a', 6]], 1]);
});

test('events of other writers are folded, also right before and after a failed event', async (t) => {
  const directory = createFolder(t);
  let isFailing = false;
  const onSync = (): void => {
    if (!isFailing) return;
    isFailing = false;
    throw new Error('the sync failed');
  };
  const { projection, journal, read, close } = await openLife(t, directory, { onSync, segmentBytes: 1e8 });
  let acknowledged = 0;
  const append = async (): Promise<void> => {
    await journal.append({ name: 'other', amount: 1 });
    acknowledged += 1;
  };
  let own = 0;
  for (let round = 0; round < 8; round += 1) {
    isFailing = true;
    const sent = projection.append({ name: 'own', amount: 1 });
    const [outcome] = await Promise.allSettled([sent, append(), append()]);
    isFailing = false;
    if (outcome.status === 'fulfilled') own += 1;
    const waiting = projection.append({ name: 'own', amount: 100 });
    await append();
    await waiting;
    own += 100;
  }
  await projection.catchUp();
  const totals = Object.fromEntries(read());
  assert.equal(totals['own'], own);
  // The log may contain a refused event. It then counts for every reader.
  assert.ok((totals['other'] ?? 0) >= acknowledged, `${totals['other']} of ${acknowledged}`);
  await close();
  assert.deepEqual(Object.fromEntries((await openLife(t, directory)).read()), totals);
});

test('repeated requests for a snapshot during events lead to one write and one waiting write', async (t) => {
  let written = 0;
  const { projection } = await openLife(t, createFolder(t), {
    snapshot: (snapshot) => ({
      write: async (seq, entries) => {
        written += 1;
        await projection.append({ name: 'a', amount: 1 });
        await snapshot.write(seq, entries);
      },
    }),
  });
  await projection.append({ name: 'a', amount: 1 });
  await Promise.all(Array.from({ length: 10 }, () => projection.save()));
  assert.equal(written, 1);
  const first = projection.save();
  await setImmediate();
  await Promise.all([first, ...Array.from({ length: 10 }, () => projection.save())]);
  assert.equal(written, 3);
});

test('a snapshot is written automatically when the log has grown', async (t) => {
  const directory = createFolder(t);
  const { projection } = await openLife(t, directory, { segmentBytes: 1e8 });
  const text = 'x'.repeat(500_000);
  for (let index = 0; index < 9; index += 1) await projection.append({ name: 'a', amount: 1, text });
  await waitUntil('the snapshot exists', () => existsSync(join(directory, 'ledger.state')));
  assert.ok(statSync(join(directory, 'ledger.state')).size < 1000);
});

test('listeners get the outcomes of all events in order, and an event after close is refused', async (t) => {
  const { projection, close } = await openLife(t, createFolder(t));
  const reported: unknown[] = [];
  projection.onFolded((outcomes) => reported.push(...(outcomes ?? [])));
  await Promise.all([1, 2, 3].map((each) => projection.append({ name: 'a', amount: each })));
  assert.deepEqual(reported, [{ total: 1 }, { total: 3 }, { total: 6 }]);
  await close();
  await assert.rejects(projection.append({ name: 'a', amount: 1 }), { code: 'closed' });
});

test('listeners are called when the state is restored after a log that was unavailable at first', async (t) => {
  const directory = createFolder(t);
  const before = await openLife(t, directory);
  await before.projection.append({ name: 'a', amount: 1 });
  await before.projection.save();
  await before.close();
  let isReached = false;
  const log = (journal: Journal): Partial<Journal> => ({
    state: () => ({ ...journal.state(), ...(!isReached && { lastSeq: undefined as never }) }),
  });
  const { projection, read } = await openLife(t, directory, { log });
  const reported: unknown[] = [];
  projection.onFolded((outcomes) => reported.push(outcomes));
  assert.deepEqual([read(), projection.hasRead], [[], false]);
  isReached = true;
  await projection.catchUp();
  assert.deepEqual([read(), reported], [[['a', 1]], [undefined]]);
});

test('a process that missed events restores the snapshot if only the snapshot contains them', async (t) => {
  const directory = createFolder(t);
  let goneSeq = 0;
  const log = (journal: Journal): Partial<Journal> => ({
    recentAfter: () => undefined,
    readAfter: (seq) => {
      if (seq < goneSeq) throw new JournalError('gone', 'the snapshot alone has them');
      return journal.readAfter(seq);
    },
  });
  const { projection, journal, read } = await openLife(t, directory, { log });
  const reported: unknown[] = [];
  projection.onFolded((outcomes) => reported.push(outcomes));
  await createSnapshotFile(join(directory, 'ledger.state')).write(2, [[{ name: 'a', total: 5 }]]);
  goneSeq = 2;
  // Events from another writer.
  for (const amount of [2, 3, 4]) await journal.append({ name: 'a', amount });
  await projection.catchUp();
  assert.deepEqual(read(), [['a', 9]]);
  assert.ok(reported.includes(undefined));
});

/** Creates an in-memory log that instances share. `note` tells this instance the last seq. */
const createSharedLog = () => {
  let rows: StoredRecord[] = [];
  let lastSeq = 0;
  const listeners = new Set<(seq: number) => void>();
  const add = (name: string): StoredRecord => {
    const row = { id: `${name} ${rows.length}`, seq: (rows.at(-1)?.seq ?? 0) + 1, name, amount: 1 };
    rows.push(row);
    return row;
  };
  const note = (seq: number): void => {
    lastSeq = Math.max(lastSeq, seq);
    for (const listener of listeners) listener(seq);
  };
  const log: FollowedLog = {
    appendAll: async (records, ids = []) => {
      const added = records.map((record, index) => ({ ...record, ...add('own'), ...record, id: ids[index] ?? '' }));
      rows.splice(-added.length, added.length, ...added);
      note(added.at(-1)?.seq ?? 0);
      return added.map(({ id, seq }) => ({ id, seq }) as never);
    },
    readAfter: async function* (seq, last) {
      await undefined;
      const found = rows.find((row) => row.seq === last?.seq);
      if (last?.id !== undefined && found?.id !== last.id) throw new JournalError('gone', 'it is lost');
      const records = rows.filter((row) => row.seq > seq);
      if (records.length > 0) yield records;
    },
    onStored: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    holdFrom: async () => () => undefined,
    state: () => ({ healthy: true, failure: undefined, lastSeq }),
  };
  return {
    log,
    add,
    note,
    /** Drops the records after a seq, as a failover does. */
    lose: (seq: number) => {
      rows = rows.filter((row) => row.seq <= seq);
    },
  };
};

test('events that reuse the seqs of events that a failover lost before they were folded are folded', async () => {
  const { log, add, note, lose } = createSharedLog();
  const projection = await Projection.open({
    log,
    createState: () => new Ledger(),
    onDamage: assert.fail,
    onUnsaved: assert.fail,
  });
  add('kept');
  await projection.catchUp();
  for (const name of ['lost', 'lost too', 'lost as well']) add(name);
  lose(1);
  note(4);
  await projection.catchUp();
  assert.equal(projection.isCurrent, true);
  add('other');
  await projection.append({ name: 'own', amount: 1 });
  await projection.catchUp();
  const state = [
    ['kept', 1],
    ['other', 1],
    ['own', 1],
  ];
  assert.deepEqual([projection.state.read(), projection.isCurrent], [state, true]);
  await projection.close();
});
