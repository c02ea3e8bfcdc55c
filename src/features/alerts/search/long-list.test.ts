import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, open as openFile, readdir, readFile, readlink, rename } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { type TestContext, test } from 'node:test';
import { changeJournal, fileOf, listMessages, sendAlert } from '../../../../test/support/alerts.ts';
import { startApp, type TestApp } from '../../../../test/support/app.ts';
import { createFolder } from '../../../../test/support/folder.ts';
import { longTest } from '../../../../test/support/long.ts';
import { startProgram } from '../../../../test/support/program.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { MiB } from '../../../lib/units.ts';
import { toLineStart, toRecordLine } from '../../../storage/journal/line.ts';

const onLinux = { skip: process.platform !== 'linux' && 'memory and open files are read from /proc' };

/** Counts the log's open files, including renamed ones. */
const countOpenFiles = async (app: TestApp): Promise<number> => {
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  return (await Promise.all(links)).filter((path) => path.startsWith(join(app.folder, 'data', 'alerts'))).length;
};

/** Writes a log with `count` alerts, each with a `bytes`-byte message. */
const writeLines = async (dataDir: string, count: number, bytes: number): Promise<void> => {
  await mkdir(dataDir, { recursive: true });
  const file = createWriteStream(join(dataDir, 'alerts.jsonl'));
  for (let n = 0; n < count; n += 1) {
    file.write(toRecordLine(toLineStart({ message: String(n).padEnd(bytes, '.') }, randomUUID()), n + 1));
  }
  await finished(file.end());
};

/** Requests a list and reads only the start of the response. */
const startReading = async (t: TestContext, url: string, path: string): Promise<string> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  const [data] = await once(socket, 'data');
  socket.pause();
  return String(data);
};

const readMemory = async (pid: number): Promise<number> => {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
};

test('a long list is sent in pieces', async (t) => {
  const app = await startApp(t);
  const messages = Array.from({ length: 30 }, (_, n) => String(n).repeat(10_000));
  await Promise.all(messages.map((message) => sendAlert(app, { message })));
  assert.deepEqual((await listMessages(app, '?count=30')).sort(), [...messages].sort());
});

test('a client that disconnects in the middle of a long list keeps no file open', onLinux, async (t) => {
  const app = await startApp(t);
  for (let n = 0; n < 20; n += 1) {
    await sendAlert(app, { message: 'x'.repeat(1_000_000) });
  }
  const request = get(`${app.url}/api/alerts?count=20`, { agent: false });
  const [response]: IncomingMessage[] = await once(request, 'response');
  assert.ok(response);
  await once(response, 'readable');
  await rename(fileOf(app), join(app.folder, 'data', 'alerts.00000001.jsonl'));
  await sendAlert(app, { message: 'in a new file' });
  await waitUntil('the list alone keeps the old file open', async () => (await countOpenFiles(app)) === 2);
  request.destroy();
  await waitUntil('the file is closed', async () => (await countOpenFiles(app)) === 1);
});

test('a list whose client does not read keeps no closed log file open', onLinux, async (t) => {
  const app = await startApp(t);
  for (let n = 0; n < 20; n += 1) {
    await sendAlert(app, { message: 'x'.repeat(1_000_000) });
  }
  await rename(fileOf(app), join(app.folder, 'data', 'alerts.00000001.jsonl'));
  await sendAlert(app, { message: 'in a new file' });
  assert.match(await startReading(t, app.url, '/api/alerts?count=20'), /^HTTP\/1\.1 200 /);
  await waitUntil('the old file is closed', async () => (await countOpenFiles(app)) === 1);
});

longTest('40 clients that request 10 MB each without reading use less than half of that memory', onLinux, async (t) => {
  const dataDir = join(createFolder(t), 'data');
  await writeLines(dataDir, 10_000, 1000);
  const { child, url } = await startProgram(t, [
    '--profiles',
    'alerts',
    '--data-dir',
    dataDir,
    '--max-event-loop-delay',
    '0',
  ]);
  await startReading(t, url, '/api/alerts?count=10000');
  const before = await readMemory(child.pid ?? 0);
  for (let n = 0; n < 40; n += 1) {
    assert.match(await startReading(t, url, '/api/alerts?count=10000'), /^HTTP\/1\.1 200 /);
  }
  const growth = (await readMemory(child.pid ?? 0)) - before;
  assert.ok(growth < 200, `grew by ${Math.round(growth)} MiB`);
});

test('of 20 simultaneous long lists, 2 are read, 16 wait, and 2 are refused with 503', async (t) => {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let running = 0;
  let most = 0;
  const features = changeJournal((journal) => ({
    ...journal,
    listLast: async (count, match) => {
      // The end of the log is read on startup.
      if (count !== 101) return journal.listLast(count, match);
      running += 1;
      most = Math.max(most, running);
      await gate;
      running -= 1;
      return journal.listLast(count, match);
    },
  }));
  const app = await startApp(t, { features });
  const { url } = app;
  const refused: Response[] = [];
  const lists = Array.from({ length: 20 }, async () => {
    const response = await fetch(`${url}/api/alerts?count=101`);
    if (response.status === 503) refused.push(response);
    return response.status;
  });
  await waitUntil('two lists are refused', async () => refused.length === 2);
  open();
  assert.deepEqual((await Promise.all(lists)).sort(), [...Array(18).fill(200), 503, 503]);
  assert.equal(most, 2);
  assert.equal(refused[0]?.headers.get('retry-after'), '1');
  assert.deepEqual(await refused[0]?.json(), {
    error: 'Too many lists of alerts are being read; try again in a second',
  });
});

test('a list that spans more than 256 MiB of the log gets 400, which names count', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  await mkdir(dataDir);
  const file = await openFile(join(dataDir, 'alerts.jsonl'), 'w');
  await file.write('{"message":"old"}\n');
  // In a sparse file, holes take up no disk space.
  await file.write('\n{"message":"new"}\n', 256 * MiB);
  await file.close();
  const app = await startApp(t, { settings: { dataDir } });
  assert.deepEqual(await listMessages(app, '?count=1'), ['new']);
  const { status, json } = await app.request('GET', '/api/alerts?count=2');
  assert.equal(status, 400);
  assert.deepEqual(json, {
    error: 'count is too large: the last 2 alerts take up more than 256 MiB of the log; request fewer alerts',
  });
});
