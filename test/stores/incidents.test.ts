import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { ActionOn } from '../../src/features/incidents/action.ts';
import { IncidentStore } from '../../src/features/incidents/store.ts';
import { incidentStates } from '../../src/kit/incident.ts';
import { openJournal } from '../../src/storage/journal/journal.ts';
import { firstTables } from '../../src/storage/postgres/migrations.ts';
import { createSnapshotFile } from '../../src/storage/snapshot-file.ts';
import { sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { amount } from '../support/long.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runSql } from '../support/postgres/server.ts';
import { createDatabase, createEmptyDatabase } from '../support/postgres/shared-server.ts';
import { atEnd } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';
import { openInstance } from './incident-instance.ts';
import { type CreateLife, compareIncidentStores, rules, testIncidentStore } from './incident-store.ts';

const skip = toSkipPostgres();

const ignore = (): void => undefined;
const log = { warn: ignore, error: ignore };
const parts = { rules, observe: ignore, log };

const createInFiles: CreateLife = async (t, clock) => {
  const directory = createFolder(t);
  const alerts = await openJournal({ directory, name: 'alerts', minFreeBytes: 0, recentCount: 1000 });
  const store = await IncidentStore.open({
    ...parts,
    events: alerts,
    clock,
    snapshot: createSnapshotFile(join(directory, 'alerts.incidents.state')),
  });
  atEnd(t, async () => {
    await store.close();
    await alerts.close();
  });
  return {
    store,
    append: async (records) => {
      const appended = await alerts.appendAll(records);
      return records.map((record, index) => ({ ...record, ...appended[index] }) as never);
    },
  };
};

test('alerts that are stored while a start restores the snapshot are folded afterwards, and no incident is lost', async (t) => {
  const directory = createFolder(t);
  const alerts = await openJournal({ directory, name: 'alerts', minFreeBytes: 0, recentCount: 1000 });
  const file = createSnapshotFile(join(directory, 'alerts.incidents.state'));
  const append = (count: number, fingerprint: string) =>
    alerts.appendAll(Array.from({ length: count }, () => ({ level: 'ERROR', message: 'm', fingerprint })));
  const open = (state = file) =>
    IncidentStore.open({
      ...parts,
      events: alerts,
      clock: () => new Date(),
      snapshot: state,
    });
  const first = await open();
  await append(1, 'before');
  await first.catchUp();
  await first.close();
  const read: typeof file.read = async (...given) => {
    await append(300, 'meanwhile');
    return file.read(...given);
  };
  const second = await open({ ...file, read });
  atEnd(t, async () => {
    await second.close();
    await alerts.close();
  });
  const kept: unknown[] = [];
  await file.read((entry) => void kept.push(entry), assert.fail);
  assert.match(JSON.stringify(kept), /"about":"before"/);
  const { incidents } = await second.list({ states: incidentStates }, 10);
  assert.deepEqual(
    incidents.map(({ about, count }) => [about, count]),
    [
      ['meanwhile', 300],
      ['before', 1],
    ],
  );
});

test('after damage to any byte of the snapshot, numbers and the order of changes continue, and new alerts open incidents', async (t) => {
  const directory = createFolder(t);
  const alerts = await openJournal({ directory, name: 'alerts', minFreeBytes: 0, recentCount: 1000 });
  atEnd(t, () => alerts.close());
  const path = join(directory, 'alerts.incidents.state');
  const open = () =>
    IncidentStore.open({
      ...parts,
      events: alerts,
      clock: () => new Date(),
      snapshot: createSnapshotFile(path),
    });
  const append = (fingerprint: string) => alerts.append({ level: 'ERROR', message: 'm', fingerprint });
  const first = await open();
  for (let index = 0; index < 4; index += 1) await append(`k${index}`);
  await first.catchUp();
  const { incidents } = await first.list({ states: incidentStates }, 10);
  for (const { id } of incidents) {
    for (let index = 0; index < 4; index += 1) await first.act({ type: 'comment', id, by: 'a', comment: 'c' });
  }
  await first.close();
  const whole = readFileSync(path);
  const step = Math.ceil(whole.length / amount(60, 2000));
  for (let at = step - 1; at < whole.length; at += step) {
    const bytes = Buffer.from(whole);
    bytes[at] = bytes[at] === 0x23 ? 0x24 : 0x23;
    writeFileSync(path, bytes);
    const life = await open();
    // The settings override the rules in the snapshot.
    await life.catchUp();
    await append(`new ${at}`);
    await life.catchUp();
    const after = await life.list({ states: incidentStates }, 1000);
    const numbers = after.incidents.map(({ number }) => number);
    const changes = after.incidents.map(({ change }) => change);
    assert.equal(new Set(numbers).size, numbers.length, `byte ${at}`);
    assert.deepEqual(
      changes,
      changes.toSorted((a, b) => b - a),
      `byte ${at}`,
    );
    assert.equal(after.incidents[0]?.about, `new ${at}`, `byte ${at}`);
    await life.close();
  }
});

const createInPostgres: CreateLife = async (t, clock) => {
  const { store, alerts } = await openInstance(t, await createDatabase(t), clock);
  return {
    store,
    append: async (records) => {
      const appended = await alerts.appendAll(records);
      return records.map((record, index) => ({ ...record, ...appended[index] }) as never);
    },
  };
};

testIncidentStore('file', createInFiles);
if (!skip) testIncidentStore('postgres', createInPostgres);

test('files and the database have the same incidents after the same alerts and actions', { skip }, async () => {
  await compareIncidentStores(createInFiles, createInPostgres);
});

test('postgres: two instances fold and change the same incidents, and each alert and action counts once', {
  skip,
}, async (t) => {
  const url = await createDatabase(t);
  const clock = () => new Date();
  const instances = await Promise.all([openInstance(t, url, clock), openInstance(t, url, clock)]);
  const seen = instances.map(({ store }) => {
    const changes = new Set<string>();
    store.onChanged((incidents) => {
      for (const { id, version } of incidents) changes.add(`${id} ${version}`);
    });
    return changes;
  });
  // Few enough actions to keep every incident below 200 events.
  const keyCount = amount(5, 100);
  const perInstance = amount(150, 1500);
  const ids = new Set<string>();
  const comments: string[] = [];
  const outcomes = new Map<string, number>();
  const work = async ({ store, alerts }: (typeof instances)[number], name: string): Promise<void> => {
    for (let index = 0; index < perInstance; index += 1) {
      const time = clock().toISOString();
      await alerts.append({ fingerprint: `${index % keyCount}`, level: 'ERROR', status: 'firing', message: 'm', time });
      const { incidents } = await store.list({ states: incidentStates }, keyCount);
      const one = incidents[index % incidents.length];
      if (!one) continue;
      ids.add(one.id);
      const by = `${name}-${index}`;
      const type = (['acknowledge', 'resolve', 'comment', 'reopen'] as const)[index % 4] ?? 'comment';
      const action = { type, id: one.id, by, comment: by } as ActionOn;
      const expected = index % 3 === 0 ? [one.version] : undefined;
      const outcome = await store.act(action, expected).then(
        () => 'done',
        (error: Error) => error.constructor.name,
      );
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (outcome === 'done' && type === 'comment') comments.push(by);
    }
  };
  await Promise.all(instances.map((instance, index) => work(instance, `i${index}`)));
  await Promise.all(instances.map(({ store }) => store.catchUp()));
  const lists = await Promise.all(
    instances.map(async ({ store }) => {
      await waitUntil('all alerts are in incidents', async () => {
        await store.catchUp();
        const { incidents } = await store.list({ states: incidentStates }, 1000);
        return incidents.reduce((sum, { count }) => sum + count, 0) === 2 * perInstance;
      });
      return store.list({ states: incidentStates }, 1000);
    }),
  );
  assert.deepEqual(lists[0], lists[1]);
  const { incidents } = lists[0] ?? { incidents: [] };
  const events = (await Promise.all(incidents.map(({ id }) => instances[0]?.store.listEvents(id) ?? []))).flat();
  const found = events.flatMap(({ type, by }) => (type === 'comment' ? (by ?? []) : []));
  assert.deepEqual(found.toSorted(), comments.toSorted());
  for (const [outcome] of outcomes) assert.ok(['done', 'HttpError', 'StoreConflict'].includes(outcome), outcome);
  // Listeners on both instances get the last version, whichever instance changed the incident.
  for (const changes of seen) {
    await waitUntil('listeners know all', () => incidents.every(({ id, version }) => changes.has(`${id} ${version}`)));
  }
  t.diagnostic(
    `${2 * perInstance} alerts in ${incidents.length} incidents, ${JSON.stringify(Object.fromEntries(outcomes))}`,
  );
});

test('postgres: alerts are accepted while incidents cannot be stored, and health reports the problem', {
  skip,
}, async (t) => {
  const store = await createEmptyDatabase();
  const app = await startApp(t, { settings: { store, timeZone: 'UTC' } });
  await sendAlert(app, { message: 'first', level: 'ERROR' });
  await waitUntil('the alert is folded', async () => (await app.request('GET', '/api/incidents')).json['total'] === 1);
  await runSql(store, 'ALTER TABLE signalbox.alert_event RENAME TO gone');
  const begun = performance.now();
  for (let count = 0; count < 5; count += 1) await sendAlert(app, { message: 'first', level: 'ERROR' });
  assert.ok(performance.now() - begun < 3000);
  const readUnavailable = async () => (await app.request('GET', '/ready')).json['unavailable'];
  await waitUntil('the failure is reported', async () => isDeepStrictEqual(await readUnavailable(), ['incidents']));
  await runSql(store, 'ALTER TABLE signalbox.gone RENAME TO alert_event');
  await waitUntil('all alerts are in incidents', async () => {
    const { json } = await app.request<{ data?: { count: number }[] }>('GET', '/api/incidents');
    return json.data?.[0]?.count === 6;
  });
  await waitUntil('nothing is reported', async () => (await readUnavailable()) === undefined);
});

test('postgres: alerts of the day before incidents were introduced are folded once', {
  skip,
}, async (t) => {
  const url = await createEmptyDatabase();
  const now = Date.now();
  await runSql(
    url,
    `CREATE SCHEMA signalbox; ${firstTables}
    CREATE TABLE signalbox.schema (one boolean PRIMARY KEY DEFAULT true CHECK (one), version int NOT NULL, readable_by int NOT NULL);
    INSERT INTO signalbox.schema (version, readable_by) VALUES (1, 1);
    INSERT INTO signalbox.alert (seq, id, at, instance, body) SELECT n, gen_random_uuid(), ${now} - age * 3600000, 'x',
      json_build_object('level', 'ERROR', 'fingerprint', n::text, 'status', 'firing', 'time',
        to_char(to_timestamp(${now} / 1000.0 - age * 3600) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text
      FROM unnest(ARRAY[50, 30, 25, 23, 2]) WITH ORDINALITY AS old (age, n);
    UPDATE signalbox.gate SET last_id = 5 WHERE name = 'alert';`,
  );
  const stores = [await openInstance(t, url, () => new Date()), await openInstance(t, url, () => new Date())];
  for (const { store } of stores) await store.catchUp();
  const list = await stores[1]?.store.list({ states: incidentStates }, 10);
  assert.deepEqual(
    list?.incidents.map(({ about, number, count, isOld }) => [about, number, count, isOld]),
    [
      ['5', 2, 1, true],
      ['4', 1, 1, true],
    ],
  );
});
