import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { command, type Running, runCommand, runProgram } from '../support/program.ts';
import { answer, startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait.ts';

/** Prepares a user's folder for the spool, a free port, and commands that send to that port. */
const prepare = async (t: TestContext, runIn: typeof runCommand = runCommand) => {
  const state = createFolder(t);
  const port = await findFreePort();
  const variables = { XDG_STATE_HOME: state, SIGNALBOX_URL: `http://127.0.0.1:${port}` };
  const signalbox = (...args: string[]) => runIn(args, { variables });
  return {
    state,
    variables,
    signalbox,
    spool: join(state, 'signalbox', 'spool'),
    send: (...args: string[]) => signalbox('send', '--retry-for', '0', ...args),
    run: (...args: string[]) => signalbox('run', '--retry-for', '0', ...args),
    start: () => startApp(t, { port }),
  };
};

const list = async ({ request }: Pick<Running, 'request'>) =>
  (await request<{ data: Record<string, string>[] }>('GET', '/api/alerts?count=1000')).json.data;

/** Writes a kept alert in the format of `send`, but with other fields or other content. */
const writeKept = (spool: string, file: string, fields: object | string): void => {
  const kept = {
    idempotencyKey: randomUUID(),
    alert: { source: 'job', level: 'INFO', message: file, hostname: 'box' },
  };
  writeFileSync(join(spool, file), typeof fields === 'string' ? fields : JSON.stringify({ ...kept, ...fields }));
};

/** Replaces a file with a folder. Not even root can delete a folder like a file. */
const block = (path: string): void => {
  rmSync(path);
  mkdirSync(join(path, 'x'), { recursive: true });
};

const stored = (response: ServerResponse): void => void response.end('{"received":true,"id":"a"}');

const firstLine = ({ message = '' }: Record<string, string>): string => message.split('\n')[0] ?? '';

test('undelivered alerts are kept for their user, and the next send delivers them first', async (t) => {
  const { spool, send, start } = await prepare(t);
  for (const message of ['one', 'two']) {
    const { code, stderr } = await send('--source', 'backup', message);
    assert.equal(code, 75);
    assert.match(stderr, /^signalbox: the alert was not stored: \S+: the connection was refused; the next /);
  }
  assert.equal(readdirSync(spool).length, 2);
  for (const path of [join(spool, '..'), spool]) assert.equal(statSync(path).mode & 0o777, 0o700);
  for (const file of readdirSync(spool)) assert.equal(statSync(join(spool, file)).mode & 0o777, 0o600);

  const server = await start();
  assert.deepEqual(
    [await send('three')].map(({ code, stderr }) => [code, stderr]),
    [[0, '']],
  );
  const alerts = await list(server);
  assert.deepEqual(alerts.map(firstLine), ['one', 'two', 'three']);
  assert.match(
    alerts[0]?.['message'] ?? '',
    /^one\n\(sent late; happened at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d\)$/,
  );
  assert.equal(alerts[0]?.['source'], 'backup');
  assert.equal(alerts[2]?.['message'], 'three');
  assert.deepEqual(readdirSync(spool), []);
});

test('an alert that the server stored without a response is not stored again', async (t) => {
  const { variables, spool, send, start } = await prepare(t);
  const server = await start();
  // The proxy forwards the request and loses the response.
  const proxy = await startReceiver(t, async (response, { path, headers, body }) => {
    await server.request('POST', path, {
      headers: { 'idempotency-key': String(headers['idempotency-key']) },
      body: JSON.parse(body),
    });
    response.destroy();
  });
  const lost = await runCommand(['send', '--retry-for', '0', '--url', proxy.url, 'once'], { variables });
  assert.equal(lost.code, 75);
  const [file = ''] = readdirSync(spool);
  const kept = readFileSync(join(spool, file), 'utf8');
  writeFileSync(join(spool, file), kept.replace(`${proxy.url}/`, `${variables.SIGNALBOX_URL}/`));
  assert.deepEqual(
    [await send('next')].map(({ code, stderr }) => [code, stderr]),
    [[0, '']],
  );
  assert.deepEqual(
    (await list(server)).map(({ message }) => message),
    ['once', 'next'],
  );
  assert.deepEqual(readdirSync(spool), []);
});

test('simultaneous senders lose and duplicate none of the undelivered alerts', async (t) => {
  const { spool, send, start, variables } = await prepare(t);
  const numbers = Array.from({ length: 6 }, (_, index) => String(index));
  for (const number of numbers) await send(`kept ${number}`);
  assert.equal(readdirSync(spool).length, numbers.length);
  const server = await start();
  const sendAtOnce = (number: string) => runProgram(['send', '--retry-for', '0', `new ${number}`], { variables });
  const ended = await Promise.all(numbers.map(sendAtOnce));
  assert.deepEqual(
    ended.map(({ code, stderr }) => [code, stderr]),
    numbers.map(() => [0, '']),
  );
  assert.deepEqual((await list(server)).map(firstLine).sort(), [
    ...numbers.map((number) => `kept ${number}`),
    ...numbers.map((number) => `new ${number}`),
  ]);
  assert.deepEqual(readdirSync(spool), []);
});

test('an alert that is kept for another server stays, and a refused alert is dropped with one line', async (t) => {
  const { spool, send, signalbox } = await prepare(t);
  await send('kept');
  const other = await startReceiver(t, (response) => void response.end('{"received":true,"id":"a"}'));
  assert.equal((await signalbox('send', '--url', other.url, 'x')).code, 0);
  assert.equal(other.requests.length, 1);
  assert.equal(readdirSync(spool).length, 1);

  const away = await startReceiver(t, answer(503));
  const state = createFolder(t);
  const variables = { XDG_STATE_HOME: state };
  await runCommand(['send', '--retry-for', '0', '--url', away.url, 'bad'], { variables });
  await away.close();
  await startReceiver(t, answer(400, {}), Number(new URL(away.url).port));
  const { stderr } = await runCommand(['send', '--retry-for', '0', '--url', away.url, 'y'], { variables });
  assert.match(
    stderr,
    /^signalbox: the server refused an alert that was stored on disk: \S+ responded 400\nsignalbox: the alert was not stored: /,
  );
  assert.deepEqual(readdirSync(join(state, 'signalbox', 'spool')), []);
});

test('the spool is bounded, and the oldest alert is dropped first', async (t) => {
  const { spool, send } = await prepare(t);
  mkdirSync(spool, { recursive: true, mode: 0o700 });
  for (let index = 0; index < 1000; index += 1)
    writeKept(spool, `${String(index).padStart(16, '0')}-x.json`, { url: 'http://elsewhere/' });
  const { stderr } = await send('newest');
  assert.match(stderr, /^signalbox: too many undelivered alerts on disk: the oldest alert was deleted\n/);
  const files = readdirSync(spool).sort();
  assert.equal(files.length, 1000);
  assert.ok(!files.includes(`${'0'.repeat(16)}-x.json`));
  assert.match(readFileSync(join(spool, files.at(-1) ?? ''), 'utf8'), /newest/);
});

test('a spool to which other accounts can write is not used, and one line says that the alert is lost', async (t) => {
  const { spool, send } = await prepare(t);
  mkdirSync(spool, { recursive: true });
  chmodSync(spool, 0o777);
  const { code, stderr } = await send('x');
  assert.equal(code, 75);
  assert.match(stderr, /; the alert is lost: other accounts can write to \S+: remove the folder\n$/);
  assert.deepEqual(readdirSync(spool), []);
});

test('a signal during run keeps the alert', async (t) => {
  const { spool, variables } = await prepare(t);
  const server = await startReceiver(t, answer(503));
  const [program, ...args] = command;
  const child = spawn(
    program,
    [...args, 'run', '--url', server.url, '--retry-for', '600', '--source', 'job', 'sh', '-c', 'exit 6'],
    { env: { ...process.env, ...variables }, stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  await waitUntil('the alert is sent', () => server.requests.length > 0);
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [6, null]);
  const [file = ''] = readdirSync(spool);
  assert.match(readFileSync(join(spool, file), 'utf8'), /"source":"job".*exit 6 failed with exit code 6/);
});

/** Returns the fields of a received alert, without hosts and times. */
const toSaid = ({ body }: { body: string }): string => {
  const { status, level, key, message } = JSON.parse(body);
  return (
    [status, level, key, message]
      .join(' ')
      .replace(/ after \d+ s/, '')
      .split('\n')[0] ?? ''
  );
};

test('the first success after a failure resolves its alert, and later successes send nothing', async (t) => {
  const { variables } = await prepare(t);
  const { url, requests } = await startReceiver(t, (response) => void response.end('{"received":true,"id":"a"}'));
  const run = (script: string, ...flags: string[]) =>
    runCommand(['run', '--url', url, '--key', 'nightly', '--source', 'backup', ...flags, 'sh', '-c', script], {
      variables,
    });
  for (const [script, code] of [
    ['true', 0],
    ['exit 3', 3],
    ['exit 4', 4],
    ['true', 0],
    ['true', 0],
  ] as const) {
    assert.equal((await run(script)).code, code);
  }
  assert.deepEqual(requests.map(toSaid), [
    'firing ERROR nightly exit 3 failed with exit code 3',
    'firing ERROR nightly exit 4 failed with exit code 4',
    'resolved INFO nightly true succeeded',
  ]);
  await run('sleep 1', '--timeout', '0.1');
  assert.deepEqual(requests.slice(3).map(toSaid), [
    'firing ERROR nightly sleep 1 is still running',
    'resolved INFO nightly sleep 1 succeeded',
  ]);
});

test('a failure and its resolution that were stored on disk arrive in order', async (t) => {
  const { run, start, signalbox } = await prepare(t);
  await run('--source', 'job', 'sh', '-c', 'exit 3');
  const { code, stderr } = await run('--source', 'job', 'true');
  assert.equal(code, 0);
  assert.match(stderr, /the next send or run retries\n$/);
  const server = await start();
  assert.equal((await signalbox('run', 'true')).stderr, '');
  assert.deepEqual(
    (await list(server)).map((alert) => firstLine(alert).replace(/ after \d+ s/, '')),
    ['exit 3 failed with exit code 3', 'true succeeded'],
  );
});

test('commands without a source have separate alerts', async (t) => {
  const { variables } = await prepare(t);
  const { url, requests } = await startReceiver(t, (response) => void response.end('{"received":true,"id":"a"}'));
  const run = (...words: string[]) => runCommand(['run', '--url', url, ...words], { variables });
  await run('sh', '-c', 'test 1 = 2');
  await run('sh', '-c', 'test 1 = 1');
  assert.deepEqual(
    requests.map(({ body }) => JSON.parse(body).source),
    ['test 1'],
  );
});

test('delivered alerts that cannot be deleted from disk do not stop the alert of the command', async (t) => {
  const { spool, state, send } = await prepare(t);
  const { url, requests, behave } = await startReceiver(t, answer(503));
  for (const message of ['one', 'two']) await send('--url', url, message);
  behave((response, _, index) => {
    const [file] = readdirSync(spool).filter((_, place) => place === index - 2);
    if (file !== undefined) block(join(spool, file));
    stored(response);
  });
  const { code, stdout, stderr } = await send('--url', url, 'three');
  assert.deepEqual([code, stdout], [0, '']);
  assert.match(stderr, /^signalbox: a delivered alert cannot be deleted and will be sent again: [^\n]*spool[^\n]*\n$/);
  assert.deepEqual(
    requests.slice(2).map(({ body }) => firstLine(JSON.parse(body))),
    ['one', 'two', 'three'],
  );
  assert.deepEqual(readdirSync(join(state, 'signalbox')), ['spool']);
});

test('a success stays a success if its failure cannot be deleted, also after an interruption', async (t) => {
  const { state, variables } = await prepare(t);
  const folder = join(state, 'signalbox', 'failed-runs');
  const { url, requests, behave } = await startReceiver(t, stored);
  const run = (...words: string[]) => runCommand(['run', '--url', url, '--key', 'job', ...words], { variables });
  assert.equal((await run('false')).code, 1);
  block(join(folder, readdirSync(folder)[0] ?? ''));
  const { code, stderr } = await run('true');
  assert.equal(code, 0);
  assert.match(stderr, /^signalbox: the next success sends the resolution again: [^\n]+\n$/);
  behave(answer(503));
  const [program, ...args] = command;
  const child = spawn(program, [...args, 'run', '--url', url, '--key', 'job', '--retry-for', '600', 'true'], {
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const ended = once(child, 'close');
  await waitUntil('the resolution is sent', () => requests.length > 2);
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  assert.match(printed, /^signalbox: the next success [^\n]+\nsignalbox: [^\n]+: interrupted; the next [^\n]+\n$/);
});

test('files in the spool that are not alerts are renamed, and later alerts are delivered', async (t) => {
  const { spool, variables, send, start } = await prepare(t);
  mkdirSync(spool, { recursive: true, mode: 0o700 });
  const url = `${variables.SIGNALBOX_URL}/`;
  const long = { source: 'job', level: 'INFO', message: 'x'.repeat(1024 * 1024), hostname: 'box' };
  execFileSync('mkfifo', [join(spool, '0-pipe.json')]);
  mkdirSync(join(spool, '1-folder.json'));
  symlinkSync('/dev/zero', join(spool, '2-link.json'));
  writeKept(spool, '3-text.json', 'text');
  writeKept(spool, '4-null.json', 'null');
  writeKept(spool, '5-key.json', { url, idempotencyKey: 'no\nkey' });
  writeKept(spool, '6-alert.json', { url, alert: 'x' });
  writeKept(spool, '7-long.json', { url, alert: long });
  writeKept(spool, '8-large.json', { url, more: 'x'.repeat(1200 * 1024) });
  const bad = readdirSync(spool);
  writeKept(spool, '9-kept.json', { url });
  const server = await start();
  const { code, stderr } = await send('own');
  assert.equal(code, 0);
  assert.deepEqual(stderr.split('\n'), [
    ...bad.map((file) => `signalbox: a file contains no valid alert: renamed the file to ${join(spool, file)}.bad`),
    '',
  ]);
  assert.deepEqual((await list(server)).map(firstLine), ['9-kept.json', 'own']);
  assert.deepEqual(
    readdirSync(spool),
    bad.map((file) => `${file}.bad`),
  );
  assert.equal((await send('again')).stderr, '');
});

test('an alert is kept if the server refuses everything, and dropped if it refuses only this alert', async (t) => {
  const { spool, send } = await prepare(t);
  const { url, requests, behave } = await startReceiver(t);
  for (const [status, isKept] of [
    [400, false],
    [413, false],
    [200, true],
    [302, true],
    [401, true],
    [403, true],
    [404, true],
    [500, true],
  ] as const) {
    behave(answer(status));
    const { code, stderr } = await send('--url', url, String(status));
    assert.equal(code, 1);
    assert.match(stderr, /^signalbox: the alert was not stored: [^\n]+\n$/);
    assert.equal(stderr.endsWith('; the next send or run retries\n'), isKept, stderr);
  }
  assert.equal(readdirSync(spool).length, 6);
  const sent = requests.length;
  behave(stored);
  assert.equal((await send('--url', url, 'own')).code, 0);
  assert.deepEqual(
    requests.slice(sent).map(({ body }) => firstLine(JSON.parse(body))),
    ['200', '302', '401', '403', '404', '500', 'own'],
  );
  assert.deepEqual(readdirSync(spool), []);
});

test('a resolution that could be neither sent nor kept is sent after the next success', async (t) => {
  const { spool, variables } = await prepare(t);
  const { url, requests, behave } = await startReceiver(t, stored);
  const args = ['run', '--url', url, '--key', 'job', '--retry-for', '0'];
  const run = (...words: string[]) => runCommand([...args, ...words], { variables });
  await run('false');
  writeFileSync(spool, 'not a folder');
  behave(answer(503));
  assert.match(
    (await run('true')).stderr,
    /\nsignalbox: the alert was not stored: [^\n]+; the alert is lost: [^\n]+\n$/,
  );
  const [program, ...programArgs] = command;
  const child = spawn(program, [...programArgs, ...args, '--retry-for', '600', 'true'], {
    env: { ...process.env, ...variables },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  await waitUntil('the resolution is sent', () => requests.length > 2);
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  behave(stored);
  const sent = requests.length;
  for (const _ of [1, 2]) await run('true');
  assert.deepEqual(requests.slice(sent).map(toSaid), ['resolved INFO job true succeeded']);
});

test('alerts and failed runs that other accounts could have planted are ignored with one line each', async (t) => {
  // Each process prints the line once.
  const { spool, state, signalbox, send, run, start } = await prepare(t, runProgram);
  await run('--key', 'job', 'false');
  const failedRuns = join(state, 'signalbox', 'failed-runs');
  const server = await start();
  const elsewhere = createFolder(t);
  const moved = join(elsewhere, 'spool');
  for (const [spoil, reason] of [
    [() => chmodSync(spool, 0o777), `other accounts can write to ${spool}: remove the folder`],
    [() => [renameSync(spool, moved), symlinkSync(moved, spool)], `${spool} is not a folder: remove the file`],
  ] as const) {
    spoil();
    const { code, stderr } = await send('own');
    assert.deepEqual([code, stderr], [0, `signalbox: the alerts stored on disk cannot be delivered: ${reason}\n`]);
  }
  assert.deepEqual((await list(server)).map(firstLine), ['own', 'own']);
  rmSync(spool);
  chmodSync(failedRuns, 0o777);
  const { code, stderr } = await signalbox('run', '--key', 'job', 'true');
  assert.deepEqual(
    [code, stderr],
    [0, `signalbox: an earlier alert is not resolved: other accounts can write to ${failedRuns}: remove the folder\n`],
  );
  assert.equal((await list(server)).length, 2);
});
