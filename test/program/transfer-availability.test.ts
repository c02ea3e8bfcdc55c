import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitForCheck } from '../availability/support/availability.ts';
import { createHeartbeat, ping } from '../heartbeats/support/heartbeats.ts';
import { startApp } from '../support/app.ts';
import { adminToken } from '../support/outbox.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runCommand } from '../support/program.ts';
import type { Scope } from '../support/scope.ts';
import { createFiles, createTables, end, exportFrom, header, importInto, type Place } from '../support/transfer.ts';

const skip = toSkipPostgres();

/** Fills a store with a heartbeat that was up and is down. */
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
  const app = await startApp(t, { settings: { ...settings, timeZone: 'UTC' } });
  const token = await adminToken(app);
  const found = await waitForCheck(app, token, 'heartbeats/job', 'down');
  const moved = found.outages.at(-1);
  assert.deepEqual([moved?.startsAt, moved?.cause], [outage?.startsAt, outage?.cause]);
  // Nobody looked between the export and the import.
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

test('histories that contradict themselves are refused, and nothing is imported', async (t) => {
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
