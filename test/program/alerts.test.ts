import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { createAccessKey } from '../../src/auth/access.ts';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { command, runCommand, startProgram } from '../support/program.ts';
import { atEnd } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';

type Sent = { message: string; source?: string; level?: string; hostname?: string; key?: string; status?: string };
type Requests = Pick<Awaited<ReturnType<typeof startApp>>, 'request'>;

const send = async ({ request }: Requests, ...alerts: Sent[]): Promise<void> => {
  for (const body of alerts) assert.equal((await request('POST', '/api/alert', { body })).status, 200);
};

/** Runs `signalbox alerts --follow` until the test ends, collecting its output. */
const follow = (t: TestContext, url: string, args: string[] = []) => {
  const [program, ...first] = command;
  const child = spawn(program, [...first, 'alerts', '--follow', '--url', url, ...args], {
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [lines, errors]: [string[], string[]] = [[], []];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  atEnd(t, () => child.kill('SIGKILL') && ended);
  return { lines, errors, ended };
};

const messagesOf = (lines: readonly string[]): string[] => lines.map((line) => JSON.parse(line).message);

test('alerts lists the last alerts, newest last, without control characters of senders', async (t) => {
  const app = await startApp(t);
  const run = (...args: string[]) => runCommand(['alerts', '--url', app.url, ...args]);
  assert.deepEqual(await run().then(({ code, stdout }) => [code, stdout]), [0, 'No alerts.\n']);
  await send(
    app,
    { source: 'db', hostname: 'db-1', level: 'crit', message: 'replication \u001b[31mstopped\n at 3' },
    { source: 'backup', level: 'ERROR', message: 'disk is full', key: 'disk' },
    { source: 'backup', level: 'INFO', message: 'disk is fine', key: 'disk', status: 'resolved' },
  );
  const { code, stdout, stderr } = await run();
  assert.deepEqual([code, stderr], [0, '']);
  const [head = '', ...lines] = stdout.trimEnd().split('\n');
  assert.match(head, /^TIME +SEVERITY +WHERE +ALERT$/);
  const time = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}/;
  assert.deepEqual(
    lines.map((line) => line.replace(time, '')),
    [
      String.raw`CRITICAL  db db-1  replication \u{1b}[31mstopped at 3`,
      'ERROR     backup   disk is full',
      'resolved  backup   disk is fine',
    ],
  );
  assert.ok(lines.every((line) => time.test(line)));
});

test('alerts filters by severity, source, host, time and number, and prints JSON for scripts', async (t) => {
  const app = await startApp(t);
  const names = Array.from({ length: 1100 }, (_, index) => `m${index}`);
  const sendOne = (message: string): Promise<void> => send(app, { source: 'load', level: 'NOTICE', message });
  for (let at = 0; at < names.length; at += 50) await Promise.all(names.slice(at, at + 50).map(sendOne));
  await send(app, { source: 'Backup', hostname: 'web-1', level: 'fatal', message: 'a' });
  await send(app, { source: 'other', hostname: 'web-2', level: 'purple', message: 'b' });
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(['alerts', '--json', '--url', app.url, ...args]);
    assert.equal(code, 0, stderr);
    return { messages: stdout === '' ? [] : messagesOf(stdout.trimEnd().split('\n')), stderr };
  };
  for (const [args, messages] of [
    [['--level', 'critical'], ['a']],
    [['--level', 'PURPLE'], ['b']],
    [['--source', 'backup'], ['a']],
    [['--hostname', 'WEB-2'], ['b']],
    [
      ['--hostname', 'web-*'],
      ['a', 'b'],
    ],
    [['--level', 'pur*e'], ['b']],
    [['--search', 'M1099'], ['m1099']],
    [['--search', 'm10*'], []],
    [
      ['--limit', '2'],
      ['a', 'b'],
    ],
    [['--limit', '0'], []],
    [['--since', '2000-01-01T00:00:00Z', '--hostname', 'web-1'], ['a']],
  ] as const) {
    assert.deepEqual((await run(...args)).messages, messages, args.join(' '));
  }
  assert.equal((await run()).messages.length, 20);
  const all = await run('--since', '1h');
  assert.deepEqual(all.messages.toSorted(), [...names, 'a', 'b'].toSorted());
  const cut = await run('--since', '1h', '--limit', '3');
  assert.match(cut.stderr, /^signalbox: more alerts match; only the last 3 are shown\n$/);
  assert.equal(cut.messages.at(-1), 'b');
  assert.match((await runCommand(['alerts', '--url', app.url, '--source', 'none'])).stdout, /^No matching alerts\.\n$/);
});

test('alerts --csv prints every column in a form that spreadsheets read, and no formula', async (t) => {
  const app = await startApp(t);
  const run = (...args: string[]) => runCommand(['alerts', '--csv', '--url', app.url, ...args]);
  const head = 'time,severity,level,status,source,hostname,message,details,labels,link,sender,format,incident,id\r\n';
  assert.equal((await run()).stdout, head);
  const formulas = ['=1+1', '+1', '-1', '@sum', '\t=1', '\uff1d1'];
  const parts = ['x;=1+1', 'x\t=1+1'];
  await send(app, ...[...formulas, ...parts].map((message) => ({ message })));
  await send(app, { source: 'a,b', level: 'fatal', hostname: 'say "x"', message: 'two\nlines\u001b[2J' });
  const { code, stdout, stderr } = await run();
  assert.deepEqual([code, stderr], [0, '']);
  assert.ok(stdout.startsWith(head));
  for (const text of formulas) assert.ok(stdout.includes(text.startsWith('\t') ? `,"'${text}",` : `,'${text},`), text);
  for (const text of parts) assert.ok(stdout.includes(`,"${text}",`), text);
  const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(?:Z|[+-]\d\d:\d\d)`;
  const last = String.raw`^${time},CRITICAL,fatal,,"a,b","say ""x""","two\nlines\\u\{1b\}\[2J",`;
  assert.match(stdout, new RegExp(last, 'm'));
  assert.equal((await run('--search', 'LINES')).stdout.split('\r\n').length, 3);
});

test('alerts has the exit codes of other commands for a refusal and an unreachable server', async (t) => {
  const away = `http://127.0.0.1:${await findFreePort()}`;
  for (const args of [[], ['--follow']]) {
    const ended = await runCommand(['alerts', '--url', away, ...args]);
    assert.deepEqual([ended.code, ended.stderr], [75, `signalbox: ${away}: the connection was refused\n`]);
  }
  const { url } = await startApp(t, { settings: { access: 'login' } });
  const refused = await runCommand(['alerts', '--follow', '--url', url]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /responded 401: Missing token; set SIGNALBOX_KEY to a key/);
});

test('a key with incidents:write lists and follows alerts', async (t) => {
  const { key, entry } = createAccessKey('oncall', ['incidents:write']);
  const server = await startApp(t, { settings: { access: 'login', keys: [entry] } });
  const { code, stderr } = await runCommand(['alerts', '--url', server.url], { variables: { SIGNALBOX_KEY: key } });
  assert.deepEqual([code, stderr], [0, '']);
});

test('alerts --follow begins with the last alerts and continues with new alerts that pass the filter', async (t) => {
  const app = await startApp(t);
  const source = 'Shop/pay';
  await send(app, { level: 'ERROR', source, message: 'before' }, { level: 'INFO', source, message: 'not wanted' });
  const { lines, errors } = follow(t, app.url, ['--level', 'error', '--source', 'shop*', '--search', 'E']);
  await waitUntil('the first alert is shown', () => lines.length === 2);
  const streams = async () => /^signalbox_event_streams (\d+)$/m.exec((await app.request('GET', '/metrics')).text)?.[1];
  await waitUntil('the command follows alerts', async () => (await streams()) === '1');
  const others = [
    { level: 'INFO', source, message: 'not wanted' },
    { level: 'ERROR', message: 'e' },
  ];
  await send(app, ...others, { level: 'ERROR', source, message: 'nothing' });
  await send(app, { level: 'severe', source, message: 'after \u001b[2J' });
  await waitUntil('the next alert is shown', () => lines.length === 3);
  assert.match(lines[0] ?? '', /^TIME {17}SEVERITY {2}WHERE {13}ALERT$/);
  assert.match(lines[1] ?? '', / ERROR {5}Shop\/pay {10}before$/);
  assert.match(lines[2] ?? '', / ERROR {5}Shop\/pay {10}after \\u\{1b\}\[2J$/);
  assert.deepEqual(errors, []);
});

test('alerts --follow shows each alert once although the server is killed and started again at any time', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  const port = `${await findFreePort()}`;
  const start = () => startProgram(t, ['--data-dir', dataDir, '--port', port]);
  let server = await start();
  const sent: string[] = [];
  const burst = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left -= 1) {
      const message = `alert ${sent.length}`;
      sent.push(message);
      await send(server, { message });
    }
  };
  await burst(1);
  const { lines, errors, ended } = follow(t, server.url, ['--json']);
  await waitUntil('the first alert is shown', () => lines.length === 1);
  const bursts = fc.sample(fc.tuple(fc.nat(30), fc.nat(30)), { numRuns: 2, seed: 28 });
  for (const [before, whileAway] of bursts) {
    await burst(before);
    await server.stop('SIGKILL');
    server = await start();
    await burst(whileAway);
  }
  await waitUntil('every alert is shown', () => lines.length >= sent.length);
  assert.deepEqual(messagesOf(lines), sent);
  assert.ok(errors.every((line) => /: (the connection was (refused|closed); trying again|reconnected)$/.test(line)));
  assert.equal(await Promise.race([ended, 'still runs']), 'still runs');
});

test('alerts --follow continues with a new log after the old one was lost', async (t) => {
  const port = await findFreePort();
  const first = await startApp(t, { port });
  await send(first, { message: 'one' }, { message: 'two' }, { message: 'three' });
  const { lines } = follow(t, first.url, ['--json']);
  await waitUntil('the alerts are shown', () => lines.length === 3);
  await first.close();
  const second = await startApp(t, { port });
  await send(second, { message: 'four' });
  await waitUntil('the new alert is shown', () => lines.length === 4);
  await send(second, { message: 'five' });
  await waitUntil('the alert after the restart is shown', () => lines.length === 5);
  assert.deepEqual(messagesOf(lines), ['one', 'two', 'three', 'four', 'five']);
});
