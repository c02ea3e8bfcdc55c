import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { readIncident } from '../incidents/support/incidents.ts';
import { sendAlert } from '../support/alerts.ts';
import type { TestApp } from '../support/app.ts';
import { end, header } from '../support/export-lines.ts';
import { runCommand } from '../support/program.ts';
import type { Scope } from '../support/scope.ts';
import { createFiles, exportFrom, importInto, logIn, type Place, start, testMoves } from '../support/transfer.ts';
import { waitUntilPasses } from '../support/wait.ts';

const open = (t: Scope, { settings: { dataDir, store } }: Place): Promise<TestApp> => start(t, dataDir, store);

const read = async (app: TestApp) => {
  const { status, text } = await app.request('GET', '/api/incidents/1/snapshot', { headers: await logIn(app) });
  return { status, picture: JSON.parse(text), takenAt: (await readIncident(app, 1)).snapshot };
};

/** Fills a store with an incident that has a picture of this machine. */
const fill = async (t: Scope, place: Place) => {
  const app = await open(t, place);
  await sendAlert(app, { source: 'demo', level: 'ERROR', message: 'the demo has failed', hostname: hostname() });
  await waitUntilPasses(async () => assert.notEqual((await readIncident(app, 1)).snapshot, null));
  const before = await read(app);
  assert.equal(before.status, 200);
  await app.close();
  return before;
};

testMoves({
  what: 'pictures of the machine',
  fill,
  assertGoesOn: async (t, place, before) => {
    const app = await open(t, place);
    assert.deepEqual(await read(app), before);
    await app.close();
  },
  imported: /alerts 1, incidents 1, pictures 1\n$/,
});

test('a picture that cannot be imported is named by line, and nothing is stored', async (t) => {
  const place = createFiles(t);
  await fill(t, place);
  const [line = ''] = (await exportFrom(place)).split('\n').filter((each) => each.startsWith('{"pictures":'));
  const { pictures } = JSON.parse(line);
  const next = createFiles(t);
  const long = { ...pictures.picture, hostname: 'x'.repeat(70_000) };
  for (const [given, problem] of [
    [[pictures, pictures], 'line 3: pictures.incident was already used in an earlier line'],
    [[{ ...pictures, incident: '../../etc' }], 'line 2: pictures.incident must be a UUID in lower case'],
    [[{ ...pictures, picture: {} }], 'line 2: pictures.picture must have takenAt'],
    [[{ ...pictures, picture: long }], 'line 2: pictures.picture must not exceed 65536 bytes'],
  ] as const) {
    const input = [header, ...given.map((each) => JSON.stringify({ pictures: each })), end, ''].join('\n');
    const { code, stderr } = await runCommand(['import', ...next.flags], { input });
    assert.equal(code, 1);
    assert.ok(stderr.startsWith(`signalbox: ${problem}`), stderr);
  }
  assert.equal(await importInto(next, [header, line, end, ''].join('\n')), 'signalbox: imported pictures 1\n');
  const { stderr } = await runCommand(['import', ...next.flags], { input: [header, line, end, ''].join('\n') });
  assert.equal(
    stderr,
    'signalbox: the store is not empty, because snapshots are or were stored; import into an empty store\n',
  );
});
