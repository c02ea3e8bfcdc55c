import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listIncidents } from '../incidents/support/incidents.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { end, header } from '../support/export-lines.ts';
import { createFolder } from '../support/folder.ts';
import { act, fire, messagesTo, readIncident, toIncidentDestination } from '../support/notifications.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runSql } from '../support/postgres/server.ts';
import { createEmptyDatabase } from '../support/postgres/shared-server.ts';
import { runCommand } from '../support/program.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import type { Scope } from '../support/scope.ts';
import { toStoreFlags } from '../support/store-flags.ts';
import {
  createFiles,
  createTables,
  exportFrom,
  fileStore,
  importInto,
  logIn,
  type Place,
  testMoves,
} from '../support/transfer.ts';
import { waitUntil, waitUntilPasses } from '../support/wait.ts';
import { fixtures } from '../upgrade/support/fixture.ts';

const skip = toSkipPostgres();

/** Starts a server that notifies the receiver of each incident immediately. */
const startWith = (t: Scope, { settings }: Place, receiver: Receiver, changes: object = {}): Promise<TestApp> =>
  startApp(t, {
    settings: { ...settings, timeZone: 'UTC', destinations: [toIncidentDestination(receiver)], ...changes },
  });

/** Waits until every incident has notified the destination. */
const settle = async (app: TestApp): Promise<void> => {
  const { data } = await listIncidents(app, '?state=all');
  for (const { number } of data) {
    await waitUntilPasses(async () => {
      const { notifications, timeline } = await readIncident(app, number);
      assert.ok(timeline.some(({ type }) => type === 'notified'));
      assert.ok(
        notifications.every(({ next }) => next === null),
        JSON.stringify(notifications),
      );
    }, 60_000);
  }
};

/** Fills a store with incidents in all states. The server runs twice. */
const fill = async (t: Scope, place: Place): Promise<void> => {
  const receiver = await startReceiver(t);
  const first = await startWith(t, place, receiver);
  for (const key of ['open', 'acknowledged', 'open', 'snoozed', 'resolved', 'open', 'reopened']) await fire(first, key);
  // Incidents that are settled before the first notification notify nobody.
  await waitUntil('each incident has notified', () => messagesTo(receiver).length === 5);
  await act(first, 2, 'acknowledge', { comment: 'on it' });
  await act(first, 3, 'acknowledge', { until: new Date(Date.now() + 3_600_000).toISOString() });
  await act(first, 4, 'comment', { comment: 'the disk\u0000 is replaced \ud800' });
  await act(first, 4, 'resolve', { comment: 'done' });
  await act(first, 5, 'resolve');
  await fire(first, 'reopened', { level: 'CRITICAL' });
  await fire(first, 'acknowledged');
  await settle(first);
  await first.close();
  const second = await startWith(t, place, receiver, { reopenMinutes: 0 });
  const resolvedAt = Date.now();
  await waitUntil('the clock has moved on', () => Date.now() > resolvedAt);
  // This incident has the key of an earlier incident.
  await fire(second, 'resolved');
  await fire(second, 'resolved');
  await act(second, 4, 'comment', { comment: 'it is back' });
  await settle(second);
  await second.close();
};

/** Reads everything about incidents, except the places of alerts in the log. */
const readAll = async (app: TestApp) => {
  const headers = await logIn(app);
  const read = async (path: string) => {
    const { status, json } = await app.request<{ data: object[] }>('GET', path, { headers });
    assert.equal(status, 200);
    return json;
  };
  const page = await listIncidents(app, '?state=all');
  const details: unknown[] = [];
  for (const { id } of page.data) {
    const [incident, alerts] = [await read(`/api/incidents/${id}`), await read(`/api/incidents/${id}/alerts`)];
    details.push([incident, alerts]);
  }
  const all = { page, details, sent: await read('/api/notifications') };
  return JSON.parse(JSON.stringify(all), (name, value) => (name === 'seq' ? undefined : value));
};

/** Checks that a server on an imported store shows the same incidents, and sends no notification again. */
const assertGoesOn = async (t: Scope, place: Place, before: unknown): Promise<void> => {
  const receiver = await startReceiver(t);
  const app = await startWith(t, place, receiver, { reopenMinutes: 0 });
  assert.deepEqual(await readAll(app), before);
  await fire(app, 'open');
  await fire(app, 'new');
  await waitUntil('the new incident has notified', () => receiver.requests.length > 0);
  await act(app, 1, 'resolve');
  await waitUntil('the resolution has notified', () => receiver.requests.length > 1);
  assert.deepEqual(messagesTo(receiver), ['opened #7 new is broken', 'resolved #1 open is broken']);
  const { count } = await app
    .request<{ count: number }>('GET', '/api/incidents/1/alerts', { headers: await logIn(app) })
    .then(({ json }) => json);
  assert.equal(count, 4);
  await app.close();
};

const readBefore = async (t: Scope, place: Place) => {
  const app = await startWith(t, place, await startReceiver(t), { reopenMinutes: 0 });
  const before = await readAll(app);
  assert.deepEqual(
    before.page.data.map(({ number, state }: { number: number; state: string }) => `${number} ${state}`).sort(),
    ['1 open', '2 acknowledged', '3 acknowledged', '4 resolved', '5 open', '6 open'],
  );
  await app.close();
  return before;
};

testMoves({
  what: 'incidents',
  fill: async (t, place) => {
    await fill(t, place);
    return readBefore(t, place);
  },
  assertGoesOn,
  imported: /^signalbox: imported alerts 11, incidents 6\n$/,
});

test('an instance that runs during the import into its database shows the imported incidents', { skip }, async (t) => {
  const place = createFiles(t);
  await fill(t, place);
  const before = await readBefore(t, place);
  const database = await createTables(t);
  const receiver = await startReceiver(t);
  const running = await startWith(t, database, receiver, { reopenMinutes: 0 });
  await importInto(database, await exportFrom(place));
  await waitUntilPasses(async () => assert.deepEqual(await readAll(running), before));
  await fire(running, 'open');
  await fire(running, 'new');
  await waitUntil('the new incident has notified', () => receiver.requests.length > 0);
  assert.deepEqual(messagesTo(receiver), ['opened #7 new is broken']);
});

test('incidents keep the alerts that are left after the oldest were deleted', { skip }, async (t) => {
  const files = createFiles(t);
  await fill(t, files);
  const place = await createTables(t);
  await importInto(place, await exportFrom(files));
  await runSql(
    place.settings.store,
    `DELETE FROM signalbox.alert WHERE seq <= (SELECT seq FROM signalbox.alert ORDER BY seq OFFSET 3 LIMIT 1)`,
  );
  const before = await readBefore(t, place);
  const next = createFiles(t);
  assert.match(await importInto(next, await exportFrom(place)), /alerts 7, incidents 6/);
  const app = await startWith(t, next, await startReceiver(t), { reopenMinutes: 0 });
  assert.deepEqual(await readAll(app), before);
  await fire(app, 'snoozed');
  const { json } = await app.request('GET', '/api/incidents/3/alerts', { headers: await logIn(app) });
  assert.equal(json['count'], 1);
});

test('a second import of the same export is refused and changes nothing', async (t) => {
  const place = createFiles(t);
  await fill(t, place);
  const text = await exportFrom(place);
  const { code, stderr } = await runCommand(['import', ...place.flags], { input: text });
  assert.deepEqual(
    [code, stderr],
    [1, 'signalbox: the store is not empty, because alerts are or were stored; import into an empty store\n'],
  );
  assert.equal(await exportFrom(place), text);
});

test('incidents that contradict each other or the alerts are named by line, and nothing is stored', async (t) => {
  const place = createFiles(t);
  await fill(t, place);
  const lines = (await exportFrom(place)).split('\n').filter((line) => /^\{"(alerts|lastIncident)":/.test(line));
  const [text = ''] = (await exportFrom(place)).split('\n').filter((line) => line.startsWith('{"incidents":'));
  const { incidents: first } = JSON.parse(text);
  const line = lines.length + 2;
  const next = createFiles(t);
  const refuse = async (incidents: object[], problem: string, given = lines): Promise<void> => {
    const input = [header, ...given, ...incidents.map((one) => JSON.stringify({ incidents: one })), end, ''];
    const { code, stderr } = await runCommand(['import', ...next.flags], { input: input.join('\n') });
    assert.equal(code, 1);
    assert.ok(stderr.startsWith(`signalbox: line ${problem}`), stderr);
    assert.match(stderr, /; nothing was imported\n$/);
    assert.equal(stderr.split('\n').length, 2);
  };
  await refuse([first, first], `${line + 1}: incidents.number must be unique`);
  await refuse([first, { ...first, number: 2 }], `${line + 1}: incidents.change must be higher than`);
  await refuse(
    [first, { ...first, number: 2, change: first.change + 1 }],
    `${line + 1}: incidents.id was already used in`,
  );
  await refuse([{ ...first, number: 99 }], `${line}: incidents.number must be unique, and at most lastIncident.number`);
  await refuse([{ ...first, secret: 1 }], `${line}: incidents has unknown keys; remove secret`);
  await refuse([{ ...first, id: 'x' }], `${line}: incidents.id must be a UUID in lower case`);
  await refuse([{ ...first, lastAt: 1e300 }], `${line}: incidents.lastAt must be at most`);
  await refuse([{ ...first, state: 'odd' }], `${line}: incidents.state must be one of`);
  await refuse([{ ...first, state: 'resolved', resolved: null }], `${line}: incidents.state must agree with`);
  await refuse([{ ...first, spans: [[1, 99]] }], `${line}: incidents.spans must name alerts of preceding lines`);
  await refuse([{ ...first, spans: [[3, 2]] }], `${line}: incidents.spans must name alerts of preceding lines`);
  const many = Array.from({ length: 200_000 }, () => [1, 1]);
  await refuse([{ ...first, spans: many }], `${line}: incidents.spans must`);
  await refuse([{ ...first, timeline: [{ at: 1, type: 'odd' }] }], `${line}: incidents.timeline.0.type must be one of`);
  await refuse([first], '2: incidents.number must follow a line with lastIncident, which is missing', []);
  await refuse([], `${line}: lastIncident occurs twice`, [...lines, lines.at(-1) ?? '']);
  const torn = [header, ...lines, text.slice(0, 90)].join('\n');
  const { stderr } = await runCommand(['import', ...next.flags], { input: torn });
  assert.equal(stderr, `signalbox: line ${line}: the line is not valid JSON; nothing was imported\n`);
  assert.equal(await importInto(next, [header, end, ''].join('\n')), 'signalbox: imported nothing\n');
});

test('incidents whose predecessors form a circle do not block the server', async (t) => {
  const place = createFiles(t);
  const [one, other] = [randomUUID(), randomUUID()];
  await fill(t, place);
  const text = (await exportFrom(place)).split('\n');
  const [line = ''] = text.filter((each) => each.includes('"reopened is broken"') && each.startsWith('{"incidents":'));
  const { incidents } = JSON.parse(line);
  const circle = [
    { ...incidents, id: one, previous: other, number: 1, change: 1, spans: [[0, 0]] },
    { ...incidents, id: other, previous: one, number: 2, change: 2, spans: [[0, 0]] },
  ].map((each) => JSON.stringify({ incidents: each }));
  const next = createFiles(t);
  const others = text.filter((each) => !each.startsWith('{"incidents":'));
  await importInto(next, [...others.slice(0, -2), ...circle, end, ''].join('\n'));
  const app = await startWith(t, next, await startReceiver(t));
  const { status, json } = await app.request<{ data: { incident: unknown }[] }>('GET', '/api/alerts/search', {
    headers: await logIn(app),
  });
  assert.equal(status, 200);
  assert.equal(json.data.length, 11);
});

test('an export leaves out a damaged incident, and an interrupted import leaves none behind', async (t) => {
  const place = createFiles(t);
  await fill(t, place);
  const path = join(place.settings.dataDir, 'alerts.incidents.state');
  const lines = readFileSync(path, 'utf8').split('\n');
  const damaged = lines.map((line) =>
    line.includes('"number":3,') ? line.replace('"number":3,', '"number":,') : line,
  );
  writeFileSync(path, damaged.join('\n'));
  const { code, stdout, stderr } = await runCommand(['export', ...place.flags]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^signalbox: skipped a damaged part: alerts\.incidents: .*alerts\.incidents\.state is damaged near line/,
  );
  assert.match(stderr, /\nsignalbox: exported alerts 11, incidents 5\n$/);
  const next = createFiles(t);
  assert.match(await importInto(next, stdout), /alerts 11, incidents 5/);
  writeFileSync(join(next.settings.dataDir, 'import.unfinished'), 'alerts\ncommands');
  assert.equal(await importInto(next, [header, end, ''].join('\n')), 'signalbox: imported nothing\n');
  assert.equal(existsSync(join(next.settings.dataDir, 'alerts.incidents.state')), false);
});

test('an export of data of 1.1.0 says that a start converts the incidents', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  cpSync(join(fixtures, 'data-1.1.0', 'data'), dataDir, { recursive: true });
  const { code, stderr } = await runCommand(['export', ...fileStore(dataDir)]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^signalbox: .*alerts\.incidents: the data of version 1\.1\.0 is not converted yet; start this version once/,
  );
  const app = await startApp(t, { settings: { store: 'file', dataDir, timeZone: 'UTC' } });
  const { total } = await listIncidents(app, '?state=all');
  await app.close();
  const again = await runCommand(['export', ...fileStore(dataDir)]);
  assert.equal(again.code, 0, again.stderr);
  assert.match(again.stderr, new RegExp(`incidents ${total}`));
  const next = createFiles(t);
  await importInto(next, again.stdout);
  assert.equal(await exportFrom(next), again.stdout);
});

test('an export of a database of 1.1.0 says that a start converts the incidents', { skip }, async () => {
  const url = await createEmptyDatabase();
  await runSql(url, readFileSync(join(fixtures, 'data-1.1.0', 'postgres.sql'), 'utf8'));
  const { code, stdout, stderr } = await runCommand(['export', ...toStoreFlags(url)]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^signalbox: .*alerts\.incidents: the data of version 1\.1\.0 is not converted yet; start this version once/,
  );
  assert.match(stdout, /\{"alerts":/);
});
