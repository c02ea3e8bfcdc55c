import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { end, header } from '../support/export-lines.ts';
import { createFolder } from '../support/folder.ts';
import { toDestination, waitForRequests } from '../support/outbox.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createEmptyDatabase } from '../support/postgres/shared-server.ts';
import { command, refusal, runCommand } from '../support/program.ts';
import { startReceiver } from '../support/receiver.ts';
import { toStoreFlags } from '../support/store-flags.ts';
import { fileStore, logIn, sendAlerts, sendGroup, sendKeyed, start } from '../support/transfer.ts';
import { waitUntil } from '../support/wait.ts';

const skip = toSkipPostgres();

const importText = (store: string[], input: string) => runCommand(['import', ...store], { input });

const exportText = async (store: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(['export', ...store]);
  assert.equal(code, 0, stderr);
  return stdout;
};

/** Returns a folder with the alerts and executions of a server, and its export. */
const fill = async (t: TestContext): Promise<{ folder: string; text: string }> => {
  const folder = createFolder(t);
  const running = await start(t, folder);
  await sendAlerts(running);
  await running.close();
  return { folder, text: await exportText(fileStore(folder)) };
};

interface Line {
  alerts?: Record<string, unknown> & { id: string };
  executions?: Record<string, unknown> & { id: string };
}

const readLines = (text: string): Line[] =>
  text
    .split('\n')
    .slice(1, -2)
    .map((line) => JSON.parse(line));

const listAlerts = (text: string) => readLines(text).flatMap(({ alerts }) => alerts ?? []);

const alert = (n: number): string =>
  JSON.stringify({
    alerts: {
      timestamp: '2026-01-31T09:30:00',
      source: '',
      level: 'INFO',
      message: `m${n}`,
      hostname: '',
      receivedAt: '09:30:00',
      time: '2026-01-31T09:30:00.000Z',
      id: randomUUID(),
    },
  });

/** Starts a server on a store whose only destination gets all alerts in the log. */
const startWithDestination = async (t: TestContext, dataDir: string, store = 'file') => {
  const receiver = await startReceiver(t);
  const destinations = [toDestination(receiver, { startAt: 'oldest' })];
  const running = await startApp(t, { settings: { store, dataDir, timeZone: 'UTC', destinations } });
  return { running, receiver };
};

/** Checks that a server on an imported store behaves like the server that received the alerts. */
const assertGoesOn = async (running: TestApp, text: string): Promise<void> => {
  const alerts = listAlerts(text);
  const [first, , , long] = alerts;
  const again = await sendKeyed(running);
  assert.deepEqual([again.status, again.json['id']], [200, first?.id]);
  assert.equal((await sendKeyed(running, { message: 'another' })).status, 422);
  const group = Object(await sendGroup(running));
  assert.deepEqual([group.ids, group.repeated], [alerts.slice(1, 3).map(({ id }) => id), 2]);
  const { request } = running;
  for (const { id, message, time } of alerts) {
    const { json } = await request('GET', `/api/alerts/${id}`);
    assert.deepEqual([json['message'], json['time']], [message, time]);
  }
  const since = encodeURIComponent(String(first?.['time']));
  const until = encodeURIComponent(new Date(Date.now() + 60_000).toISOString());
  const found = await request<{ data: { id: string }[] }>('GET', `/api/alerts/search?since=${since}&limit=100`);
  assert.deepEqual(
    found.json.data.map(({ id }) => id),
    alerts.map(({ id }) => id).reverse(),
  );
  const byLevel = await request<{ data: { id: string }[] }>('GET', '/api/alerts/search?level=%00');
  assert.deepEqual(
    byLevel.json.data.map(({ id }) => id),
    [long?.id],
  );
  const histogram = await request<{ buckets: { count: number; levels: object }[] }>(
    'GET',
    `/api/alerts/histogram?since=${since}&until=${until}&buckets=1`,
  );
  const [bucket] = histogram.json.buckets;
  assert.deepEqual([bucket?.count, Object(bucket?.levels).ERROR], [alerts.length, 1]);
  const executions = await request<{ data: { command: string }[] }>('GET', '/api/executions', {
    headers: await logIn(running),
  });
  assert.deepEqual(
    executions.json.data.map(({ command }) => command),
    ['Get-Process', 'Remove-Item'],
  );
};

/** Starts a server on an imported store. The server must continue, and deliver only new alerts. */
const assertServes = async (t: TestContext, text: string, dataDir: string, store?: string): Promise<TestApp> => {
  const { running, receiver } = await startWithDestination(t, dataDir, store);
  await assertGoesOn(running, text);
  await running.request('POST', '/api/alert', { body: { message: 'new' } });
  await waitForRequests(receiver, 1);
  assert.deepEqual(
    receiver.requests.map(({ body }) => JSON.parse(body).message),
    ['new'],
  );
  return running;
};

test('alerts and the audit are the same after a move to files, and no alert is delivered again', async (t) => {
  const { text } = await fill(t);
  const folder = createFolder(t);
  const store = fileStore(folder);
  const { code, stderr } = await importText(store, text);
  assert.deepEqual([code, stderr], [0, 'signalbox: imported alerts 5, incidents 4, executions 2\n']);
  assert.equal(await exportText(store), text);
  await assertServes(t, text, folder);
});

test('alerts and the audit are the same after a move to a database and back', { skip }, async (t) => {
  const { text } = await fill(t);
  const url = await createEmptyDatabase();
  const database = toStoreFlags(url);
  const { code, stderr } = await importText(database, text);
  assert.equal(code, 0, stderr);
  assert.equal(await exportText(database), text);
  const running = await assertServes(t, text, createFolder(t), url);
  await running.close();
  const more = await exportText(database);
  assert.equal(listAlerts(more).length, 6);
  const back = fileStore(createFolder(t));
  assert.equal((await importText(back, more)).code, 0);
  assert.equal(await exportText(back), more);
});

test('the ids of received alerts move from a database to files, so repeats are recognized', { skip }, async (t) => {
  const url = await createEmptyDatabase();
  const { running } = await startWithDestination(t, createFolder(t), url);
  await sendAlerts(running);
  await running.close();
  const text = await exportText(toStoreFlags(url));
  const folder = createFolder(t);
  const store = fileStore(folder);
  assert.equal((await importText(store, text)).code, 0);
  assert.equal(await exportText(store), text);
  await assertGoesOn(await start(t, folder), text);
});

test('an import into a database with alerts, or with a duplicate id, is refused and changes nothing', {
  skip,
}, async () => {
  const database = toStoreFlags(await createEmptyDatabase());
  const one = alert(1);
  const twice = await importText(database, [header, one, one, end, ''].join('\n'));
  assert.equal(
    twice.stderr,
    'signalbox: line 3: alerts.id was already used in an earlier line; nothing was imported\n',
  );
  const execution = '{"executions":{"id":"00000000-0000-4000-8000-000000000001"}}';
  assert.match((await importText(database, [header, execution, execution, end, ''].join('\n'))).stderr, /line 3: exec/);
  assert.equal((await importText(database, [header, one, end, ''].join('\n'))).code, 0);
  assert.equal(
    (await importText(database, [header, alert(2), end, ''].join('\n'))).stderr,
    'signalbox: the store is not empty, because alerts are or were stored; import into an empty store\n',
  );
  assert.equal(await exportText(database), [header, one, end, ''].join('\n'));
});

test('an import into a log with records is refused and changes nothing', async (t) => {
  const { folder, text } = await fill(t);
  const refused = await importText(fileStore(folder), [header, alert(1), end, ''].join('\n'));
  assert.deepEqual(
    [refused.code, refused.stderr],
    [1, 'signalbox: the store is not empty, because alerts are or were stored; import into an empty store\n'],
  );
  assert.equal(await exportText(fileStore(folder)), text);
  const byHand = createFolder(t);
  writeFileSync(join(byHand, 'alerts.jsonl'), '{"message":"by hand"}\n');
  assert.equal((await importText(fileStore(byHand), [header, end, ''].join('\n'))).code, 1);
  assert.equal(readFileSync(join(byHand, 'alerts.jsonl'), 'utf8'), '{"message":"by hand"}\n');
});

test('an export leaves out damaged alerts and contains the rest', async (t) => {
  const { folder, text } = await fill(t);
  const path = join(folder, 'alerts.jsonl');
  const lines = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, [...lines.with(1, '{"seq":'), '{"message":"by hand"}', ''].join('\n'));
  const places = [[lines[0]], [lines[0], '{"seq":', ...lines.slice(2)]].map((before) => {
    const place = `the line at byte ${Buffer.byteLength(before.join('\n')) + 1} of alerts.jsonl`;
    return `signalbox: skipped a damaged part: alerts: ${place} cannot be read\n`;
  });
  const { code, stdout, stderr } = await runCommand(['export', ...fileStore(folder)]);
  assert.deepEqual([code, stderr], [1, `${places.join('')}signalbox: exported alerts 4, incidents 4, executions 2\n`]);
  assert.deepEqual(listAlerts(stdout), listAlerts(text).toSpliced(1, 1));
  assert.equal((await importText(fileStore(createFolder(t)), stdout)).code, 0);
});

test('an invalid alert or execution is named, and everything written before it is removed', async (t) => {
  const folder = createFolder(t);
  const many = Array.from({ length: 6000 }, (_, n) => alert(n));
  for (const [line, problem] of [
    [alert(1).replace('"alerts":{', '"alerts":{"seq":7,'), 'alerts has unknown keys; remove seq'],
    [alert(1).replace(/"id":"./, '"id":"G'), 'alerts.id must be a UUID in lower case'],
    [alert(1).replace(/"time":"[^"]*/, '"time":"zzz'), 'alerts.time must be an RFC 3339 time with an offset'],
    ['{"executions":{"id":"1"}}', 'executions.id must be a UUID in lower case'],
    [many[1] ?? '', 'alerts.id was already used in an earlier line'],
  ] as const) {
    const { stderr } = await importText(fileStore(folder), [header, ...many, line, end, ''].join('\n'));
    assert.equal(stderr, `signalbox: line 6002: ${problem}; nothing was imported\n`);
    assert.deepEqual(
      readdirSync(folder).filter((name) => /^alerts|unfinished/.test(name)),
      [],
    );
  }
});

test('the next import removes everything that a killed import has stored', async (t) => {
  const folder = createFolder(t);
  const [program, ...args] = command;
  const child = spawn(program, [...args, 'import', ...fileStore(folder)], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  // The import is killed before it has read everything.
  child.stdin.on('error', () => undefined);
  child.stdin.write([header, ...Array.from({ length: 6000 }, (_, n) => alert(n)), ''].join('\n'));
  const log = join(folder, 'alerts.jsonl');
  await waitUntil('alerts are written', () => existsSync(log) && statSync(log).size > 0);
  child.kill('SIGKILL');
  await once(child, 'close');
  assert.ok(existsSync(join(folder, 'import.unfinished')));
  const one = [header, alert(1), end, ''].join('\n');
  assert.equal((await importText(fileStore(folder), one)).code, 0);
  assert.equal(await exportText(fileStore(folder)), one);
});

test('an interrupted import of alerts is not served, and the next import removes it', async (t) => {
  const { folder } = await fill(t);
  writeFileSync(join(folder, 'import.unfinished'), 'alerts\ncommands');
  const problem = `dataDir: ${folder} contains part of an interrupted import; run signalbox import again`;
  for (const store of ['file', 'memory']) {
    assert.equal(await refusal(['--store', store, '--data-dir', folder], 1), problem);
  }
  assert.equal(await refusal(['export', ...fileStore(folder)], 1), problem);
  const one = [header, alert(1), end, ''].join('\n');
  assert.equal((await importText(fileStore(folder), one)).code, 0);
  assert.equal(await exportText(fileStore(folder)), one);
  // An unfinished import that names no log has not started storing alerts.
  writeFileSync(join(folder, 'import.unfinished'), '');
  assert.match((await importText(fileStore(folder), one)).stderr, /alerts are or were stored;/);
});
