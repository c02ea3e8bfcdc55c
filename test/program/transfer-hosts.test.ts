import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { rowLength } from '../../src/features/hosts/columns.ts';
import { HostFiles } from '../../src/features/hosts/host-file.ts';
import { align, rings } from '../../src/features/hosts/rings.ts';
import type { HostHistory } from '../../src/features/hosts/schema.ts';
import { enrol, readHost, report } from '../hosts/support/hosts.ts';
import type { TestApp } from '../support/app.ts';
import { end, header } from '../support/export-lines.ts';
import { createFolder } from '../support/folder.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { command, runCommand } from '../support/program.ts';
import type { Scope } from '../support/scope.ts';
import {
  createFiles,
  createTables,
  exportFrom,
  importInto,
  type Place,
  start,
  testMoves,
} from '../support/transfer.ts';

const open = (t: Scope, { settings: { dataDir, store } }: Place): Promise<TestApp> => start(t, dataDir, store);

/** Reads the CPU history of a host between two times, in one-minute and ten-minute steps. */
const readCpu = async (app: TestApp, token: string, from: number, until: number) => {
  const query = `from=${new Date(from).toISOString()}&until=${new Date(until).toISOString()}`;
  const read = async (step: number) => {
    const path = `/api/hosts/web-1/history?${query}&step=${step}`;
    return (await app.request<HostHistory>('GET', path, { token })).json.cpu;
  };
  return [await read(60), await read(600)];
};

/** Fills a store with a host that has an hour of history. */
const fill = async (t: Scope, place: Place) => {
  const app = await open(t, place);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  const until = Date.now() - 60_000;
  const from = until - 50 * 60_000;
  const kept = Array.from({ length: 50 }, (_, minute) => ({
    time: new Date(from + minute * 60_000).toISOString(),
    readings: { cpu: minute / 100, memoryUsed: 123_456_789 },
  }));
  const { status, text } = await report(app, key, 'web-1', { kept });
  assert.equal(status, 200, text);
  const { readings, lastReportAt } = await readHost(app, token, 'web-1');
  const cpu = await readCpu(app, token, from, until);
  assert.ok(cpu.every((values) => values.filter((value) => value !== null).length > 2));
  await app.close();
  return { key, from, until, cpu, readings, lastReportAt };
};

testMoves({
  what: 'hosts with their keys, last reports and histories',
  fill,
  assertGoesOn: async (t, place, { key, from, until, cpu, readings, lastReportAt }) => {
    const app = await open(t, place);
    const token = await app.login('admin');
    const host = await readHost(app, token, 'web-1');
    assert.deepEqual([host.readings, host.lastReportAt], [readings, lastReportAt]);
    assert.deepEqual(await readCpu(app, token, from, until), cpu);
    assert.equal((await report(app, key, 'web-1', { readings: { cpu: 0.75 } })).status, 200);
    assert.equal((await readHost(app, token, 'web-1')).readings?.cpu, 0.75);
    await app.close();
  },
  imported: /hosts \d, hostReadings \d+/,
});

test('a host of a server whose clock was ahead shows new reports after the import', {
  skip: toSkipPostgres(),
}, async (t) => {
  const place = createFiles(t);
  const { key } = await fill(t, place);
  const ahead = 86_400_000;
  const text = (await exportFrom(place)).replaceAll(/^\{"hosts":.*$/gm, (line) => {
    const { hosts } = JSON.parse(line);
    return JSON.stringify({ hosts: { ...hosts, at: hosts.at + ahead, lineAt: hosts.lineAt + ahead / 1000 } });
  });
  for (const next of [createFiles(t), await createTables(t)]) {
    await importInto(next, text);
    const app = await open(t, next);
    const token = await app.login('admin');
    assert.ok(Date.parse((await readHost(app, token, 'web-1')).lastReportAt ?? '') <= Date.now());
    assert.equal((await report(app, key, 'web-1', { readings: { cpu: 0.75 } })).status, 200);
    await app.close();
    const again = await open(t, next);
    assert.equal((await readHost(again, await again.login('admin'), 'web-1')).readings?.cpu, 0.75);
    await again.close();
  }
});

test('a host that cannot be imported is named by line, and nothing is stored', async (t) => {
  const place = createFiles(t);
  await fill(t, place);
  const lines = (await exportFrom(place)).split('\n').filter((each) => /^\{"host(s|Readings)":/.test(each));
  const { hosts } = JSON.parse(lines.find((each) => each.includes('"name":"web-1"')) ?? '');
  const { hostReadings } = JSON.parse(lines.find((each) => each.includes('"host":"web-1"')) ?? '');
  const order = 'hostReadings.time must be the start of a step, in order, and within the history';
  for (const [given, problem] of [
    [[{ hosts }, { hosts }], 'line 3: hosts.name was already used in an earlier line'],
    [[{ hosts: { ...hosts, name: '../../etc' } }], 'line 2: hosts.name must'],
    [[{ hosts: { ...hosts, report: {} } }], 'line 2: hosts.report must have'],
    [[{ hostReadings: { ...hostReadings, host: '../x' } }], 'line 2: hostReadings.host must'],
    [[{ hostReadings: { ...hostReadings, step: 7 } }], 'line 2: hostReadings.step must'],
    [[{ hostReadings: { ...hostReadings, time: hostReadings.time + 1 } }], `line 2: ${order}`],
    [[{ hostReadings }, { hostReadings }], `line 3: ${order}`],
    [
      [{ hostReadings }, { hostReadings: { ...hostReadings, time: hostReadings.time + 86_400_000 } }],
      `line 3: ${order}`,
    ],
  ] as const) {
    const next = createFiles(t);
    const input = [header, ...given.map((each) => JSON.stringify(each)), end, ''].join('\n');
    const { code, stderr } = await runCommand(['import', ...next.flags], { input });
    assert.equal(code, 1);
    assert.ok(stderr.startsWith(`signalbox: ${problem}`), stderr);
    assert.equal(existsSync(join(next.settings.dataDir, 'hosts')), false);
  }
});

for (const [what, create, skip] of [
  ['files', createFiles, false],
  ['a database', createTables, toSkipPostgres()],
] as const) {
  test(`an export of ${what} without readings has the hosts, and no readings`, { skip }, async (t) => {
    const place = await create(t);
    const { key, readings } = await fill(t, place);
    const whole = await exportFrom(place);
    const { code, stdout, stderr } = await runCommand(['export', '--without-readings', ...place.flags]);
    assert.equal(code, 0, stderr);
    assert.match(whole, /"hostReadings"/);
    assert.equal(stdout, whole.replaceAll(/^\{"hostReadings":.*\n/gm, ''));
    const next = await create(t);
    await importInto(next, stdout);
    const app = await open(t, next);
    const token = await app.login('admin');
    assert.deepEqual((await readHost(app, token, 'web-1')).readings, readings);
    assert.equal((await report(app, key, 'web-1', { readings: { cpu: 0.75 } })).status, 200);
    await app.close();
  });
}

/** Fills 90 days of a host's history. Adds `copies` hosts with the same history. */
const fillHistory = async (folder: string, until: number, copies: number): Promise<void> => {
  const { step, size } = rings[2];
  const files = new HostFiles(folder);
  const last = align(Math.floor(until / 1000), step);
  const values = new Float32Array(rowLength).fill(0.123_456_7);
  for (let index = 0; index < size; index += 1) {
    await files.addRow('web-1', { step, time: last - index * step, values });
  }
  await files.close();
  const bytes = readFileSync(join(folder, 'web-1.host')).toString('latin1');
  for (let copy = 2; copy < 2 + copies; copy += 1) {
    writeFileSync(join(folder, `web-${copy}.host`), bytes.replace('"name":"web-1"', `"name":"web-${copy}"`), 'latin1');
  }
};

const hasScript = spawnSync('script', ['--version']).status === 0;

test('a terminal shows the progress of an export with the files of hosts', {
  skip: hasScript ? false : 'script(1) is not installed',
}, async (t) => {
  const place = createFiles(t);
  const { until } = await fill(t, place);
  await fillHistory(join(place.settings.dataDir, 'hosts'), until, 5);
  const line = `'${[...command, 'export', ...place.flags].join("' '")}' > '${join(createFolder(t), 'export.jsonl')}'`;
  const { stdout, status } = spawnSync('script', ['-qec', line, '/dev/null'], { encoding: 'utf8', timeout: 50_000 });
  assert.equal(status, 0, stdout);
  const shares = Array.from(stdout.matchAll(/Exporting: (\d+) %/g), ([, share]) => Number(share));
  assert.deepEqual(
    shares,
    shares.toSorted((one, other) => one - other),
  );
  assert.ok(new Set(shares).size > 3, stdout);
});
