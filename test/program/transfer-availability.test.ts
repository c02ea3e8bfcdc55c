import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { checkStates } from '../../src/kit/availability.ts';
import { waitForCheck } from '../availability/support/availability.ts';
import { createHeartbeat, ping } from '../heartbeats/support/heartbeats.ts';
import { inHours } from '../silences/support/silences.ts';
import { startApp } from '../support/app.ts';
import { end, header } from '../support/export-lines.ts';
import { adminToken } from '../support/outbox.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runCommand } from '../support/program.ts';
import type { Scope } from '../support/scope.ts';
import { createFiles, createTables, exportFrom, importInto, type Place } from '../support/transfer.ts';

const skip = toSkipPostgres();

/** Fills a store with a heartbeat that was up and is now down. */
const fill = async (t: Scope, { settings }: Place) => {
  const app = await startApp(t, { settings: { ...settings, timeZone: 'UTC' } });
  const token = await adminToken(app);
  const { uuid } = await createHeartbeat(app, token, 'job');
  await ping(app.url, uuid);
  await waitForCheck(app, token, 'heartbeats/job', 'up');
  await ping(app.url, `${uuid}/3`);
  const { outages } = await waitForCheck(app, token, 'heartbeats/job', 'down');
  await app.close();
  return outages[0];
};

const assertMoved = async (t: Scope, { settings }: Place, outage: Awaited<ReturnType<typeof fill>>): Promise<void> => {
  // Observation ends a whole second after the last change, and an interval shorter than a second leaves no trace.
  await setTimeout(Math.max(0, Date.parse(outage?.startsAt ?? '') + 2000 - Date.now()));
  const app = await startApp(t, { settings: { ...settings, timeZone: 'UTC' } });
  const token = await adminToken(app);
  const found = await waitForCheck(app, token, 'heartbeats/job', 'down');
  const moved = found.outages.at(-1);
  assert.deepEqual([moved?.startsAt, moved?.cause], [outage?.startsAt, outage?.cause]);
  // Nothing was observed between the export and the import.
  assert.equal(found.outages.length, 2);
  assert.ok(found.unknown > 0 && moved?.endsAt !== null);
  await app.close();
};

test('the history of a heartbeat moves from files to files', async (t) => {
  const from = createFiles(t);
  const outage = await fill(t, from);
  const lines = await exportFrom(from);
  const to = createFiles(t);
  await importInto(to, lines);
  await assertMoved(t, to, outage);
});

test('the history of a heartbeat moves from files to a database and back', { skip }, async (t) => {
  const from = createFiles(t);
  const outage = await fill(t, from);
  const database = await createTables(t);
  await importInto(database, await exportFrom(from));
  const back = createFiles(t);
  await importInto(back, await exportFrom(database));
  await assertMoved(t, back, outage);
});

test('an import adds to the history that a server has recorded in an empty store, and a refused import leaves this history', async (t) => {
  const from = createFiles(t);
  const outage = await fill(t, from);
  const lines = await exportFrom(from);
  const to = createFiles(t);
  const { settings } = to;
  await (await startApp(t, { settings })).close();
  const line = JSON.stringify({ availability: { ...history, check: 'watch:own', changes: [80, 91] } });
  await importInto(to, [header, line, end, ''].join('\n'));
  const before = await exportFrom(to);
  assert.match(before, /"watch:own"/);
  const other = line.replace('watch:own', 'watch:other');
  const { code } = await runCommand(['import', ...to.flags], { input: [header, other, '{}', ''].join('\n') });
  assert.equal(code, 1);
  assert.equal(await exportFrom(to), before);
  // A killed import has stored a part.
  writeFileSync(join(settings.dataDir, 'import.unfinished'), 'settings\nalerts');
  await importInto(to, lines);
  assert.match(await exportFrom(to), /"watch:own"/);
  await assertMoved(t, to, outage);
});

test('the exported maintenance of a watch without checks ends at the time of the export', async (t) => {
  const from = createFiles(t);
  const app = await startApp(t, { settings: { ...from.settings, timeZone: 'UTC' } });
  const token = await adminToken(app);
  const watch = { name: 'x', type: 'memory', limit: 90, enabled: false };
  assert.equal((await app.request('POST', '/api/watches', { token, body: watch })).status, 201);
  const silence = { match: { source: 'watch/x' }, endsAt: inHours(1), comment: 'new memory', maintenance: true };
  assert.equal((await app.request('POST', '/api/silences', { token, body: silence })).status, 201);
  await waitForCheck(app, token, 'watches/x', 'maintenance');
  await app.close();
  const line = (await exportFrom(from)).split('\n').find((each) => each.includes('"watch:x"')) ?? '{}';
  const { changes } = JSON.parse(line).availability as { changes: number[] };
  assert.equal(checkStates[(changes.at(-1) ?? 0) % 8], 'unknown');
});

const history = {
  check: 'watch:a',
  createdAt: 0,
  deletedAt: null,
  changes: [80],
  merged: [],
  facts: [],
  firstDay: 0,
  rows: [],
};

test('the future of an imported history is left out, because nothing could be recorded in it', async (t) => {
  const now = Math.ceil(Date.now() / 1000);
  const today = Math.floor(now / 86_400);
  const [up, down, unknown] = [0, 1, 3];
  const histories = [
    { ...history, check: 'watch:changes', changes: [8 * (now - 100) + up, 8 * (now + 9e5) + down, 8e15 + unknown] },
    { ...history, check: 'watch:rows', firstDay: today - 2, rows: [86_400, 86_400, 86_400, 86_400] },
    { ...history, check: 'watch:far', firstDay: 1e14, rows: [86_400], changes: [8 * now + up] },
  ];
  const lines = histories.map((availability) => JSON.stringify({ availability }));
  const place = createFiles(t);
  await importInto(place, [header, ...lines, end, ''].join('\n'));
  const moved = (await exportFrom(place)).split('\n').filter((line) => line.includes('"availability"'));
  assert.equal(moved.length, histories.length);
  const all: (typeof history)[] = moved.map((line) => JSON.parse(line).availability);
  for (const { changes, firstDay, rows } of all) {
    assert.ok((changes.at(-1) ?? 0) < 8 * (now + 60) && firstDay + rows.length <= today, JSON.stringify(changes));
  }
  const [first, second] = all;
  assert.deepEqual([first?.changes[0], second?.rows], [8 * (now - 100) + up, [86_400, 86_400]]);
});

test('histories that contradict themselves are refused, and nothing is imported', async (t) => {
  const bad = [
    { ...history, changes: [80, 72] },
    { ...history, changes: [84] },
    { ...history, changes: [87] },
    { ...history, rows: [2 ** 52] },
    { ...history, check: 'x' },
  ];
  for (const each of bad) {
    const input = `${header}\n${JSON.stringify({ availability: each })}\n${end}\n`;
    const { code, stderr } = await runCommand(['import', ...createFiles(t).flags], { input });
    assert.notEqual(code, 0, JSON.stringify(each));
    assert.match(stderr, /line 2: availability/);
  }
});
