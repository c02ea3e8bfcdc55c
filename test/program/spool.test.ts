import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { command, type Running, runProgram, startProgram } from '../support/program.ts';
import { answer, startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait.ts';

/** A user's folder for what commands keep, a free port, and commands that send to it. */
const prepare = async (t: TestContext) => {
  const state = createFolder(t);
  const port = await findFreePort();
  const variables = { XDG_STATE_HOME: state, SIGNALBOX_URL: `http://127.0.0.1:${port}` };
  const signalbox = (...args: string[]) => runProgram(args, { variables });
  const cwd = createFolder(t);
  return {
    ...{ state, variables, signalbox },
    spool: join(state, 'signalbox', 'spool'),
    send: (...args: string[]) => signalbox('send', '--retry-for', '0', ...args),
    run: (...args: string[]) => signalbox('run', '--retry-for', '0', ...args),
    start: () => startProgram(t, ['--port', String(port)], { cwd }),
  };
};

const list = async ({ request }: Pick<Running, 'request'>) =>
  (await request<{ data: Record<string, string>[] }>('GET', '/api/alerts?count=1000')).json.data;

const firstLine = ({ message = '' }: Record<string, string>): string => message.split('\n')[0] ?? '';

test('alerts that could not be delivered are kept for their user, and the next send delivers them first', async (t) => {
  const { spool, send, start } = await prepare(t);
  for (const message of ['one', 'two']) {
    const { code, stderr } = await send('--source', 'backup', message);
    assert.equal(code, 75);
    assert.match(
      stderr,
      /^signalbox: the alert was not stored: \S+: the connection was refused; it is kept for the next /,
    );
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
  assert.match(alerts[0]?.['message'] ?? '', /^one\n\(sent late; it happened at \d{4}-\d\d-\d\dT[\d:.]+Z\)$/);
  assert.equal(alerts[0]?.['source'], 'backup');
  assert.equal(alerts[2]?.['message'], 'three');
  assert.deepEqual(readdirSync(spool), []);
});

test('an alert that the server has stored although no response came is not stored again', async (t) => {
  const { variables, spool, send, start } = await prepare(t);
  const server = await start();
  // Passes the request on and loses the response.
  const proxy = await startReceiver(t, async (response, { path, headers, body }) => {
    await server.request('POST', path, {
      headers: { 'idempotency-key': String(headers['idempotency-key']) },
      body: JSON.parse(body),
    });
    response.destroy();
  });
  const lost = await runProgram(['send', '--retry-for', '0', '--url', proxy.url, 'once'], { variables });
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

test('senders at the same time lose and double none of the alerts that are kept', async (t) => {
  const { spool, send, start } = await prepare(t);
  const numbers = Array.from({ length: 6 }, (_, index) => String(index));
  for (const number of numbers) await send(`kept ${number}`);
  assert.equal(readdirSync(spool).length, numbers.length);
  const server = await start();
  const ended = await Promise.all(numbers.map((number) => send(`new ${number}`)));
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

test('an alert that is kept for another server stays, and one that the server refuses is dropped with one line', async (t) => {
  const { spool, send, signalbox } = await prepare(t);
  await send('kept');
  const other = await startReceiver(t, (response) => void response.end('{"received":true,"id":"a"}'));
  assert.equal((await signalbox('send', '--url', other.url, 'x')).code, 0);
  assert.equal(other.requests.length, 1);
  assert.equal(readdirSync(spool).length, 1);

  const away = await startReceiver(t, answer(503));
  const state = createFolder(t);
  const variables = { XDG_STATE_HOME: state };
  await runProgram(['send', '--retry-for', '0', '--url', away.url, 'bad'], { variables });
  await away.close();
  await startReceiver(t, answer(400, {}), Number(new URL(away.url).port));
  const { stderr } = await runProgram(['send', '--retry-for', '0', '--url', away.url, 'y'], { variables });
  assert.match(
    stderr,
    /^signalbox: a kept alert was not stored: \S+ responded 400\nsignalbox: the alert was not stored: /,
  );
  assert.deepEqual(readdirSync(join(state, 'signalbox', 'spool')), []);
});

test('the spool is bounded, and the oldest alert is dropped first', async (t) => {
  const { spool, send } = await prepare(t);
  mkdirSync(spool, { recursive: true, mode: 0o700 });
  for (let index = 0; index < 1000; index += 1)
    writeFileSync(join(spool, `${String(index).padStart(16, '0')}-x.json`), '{}');
  const { stderr } = await send('newest');
  assert.match(stderr, /^signalbox: too many alerts are kept: the oldest was dropped\n/);
  const files = readdirSync(spool).sort();
  assert.equal(files.length, 1000);
  assert.ok(!files.includes(`${'0'.repeat(16)}-x.json`));
  assert.match(readFileSync(join(spool, files.at(-1) ?? ''), 'utf8'), /newest/);
});

test('a spool that other accounts can write is not used, and the line says that the alert is lost', async (t) => {
  const { spool, send } = await prepare(t);
  mkdirSync(spool, { recursive: true });
  chmodSync(spool, 0o777);
  const { code, stderr } = await send('x');
  assert.equal(code, 75);
  assert.match(stderr, /; it is lost: other accounts can write \S+: remove it\n$/);
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

/** What a server got, without hosts and times. */
const toSaid = ({ body }: { body: string }): string => {
  const { status, level, key, message } = JSON.parse(body);
  return (
    [status, level, key, message]
      .join(' ')
      .replace(/ after \d+ s/, '')
      .split('\n')[0] ?? ''
  );
};

test('the first success after a failure resolves its alert, and later ones send nothing', async (t) => {
  const { variables } = await prepare(t);
  const { url, requests } = await startReceiver(t, (response) => void response.end('{"received":true,"id":"a"}'));
  const run = (script: string, ...flags: string[]) =>
    runProgram(['run', '--url', url, '--key', 'nightly', '--source', 'backup', ...flags, 'sh', '-c', script], {
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

test('a failure and its resolution that were both kept arrive in their order', async (t) => {
  const { run, start, signalbox } = await prepare(t);
  await run('--source', 'job', 'sh', '-c', 'exit 3');
  const { code, stderr } = await run('--source', 'job', 'true');
  assert.equal(code, 0);
  assert.match(stderr, /it is kept for the next send or run\n$/);
  const server = await start();
  assert.equal((await signalbox('run', 'true')).stderr, '');
  assert.deepEqual(
    (await list(server)).map((alert) => firstLine(alert).replace(/ after \d+ s/, '')),
    ['exit 3 failed with exit code 3', 'true succeeded'],
  );
});

test('commands that are given no source have alerts of their own', async (t) => {
  const { variables } = await prepare(t);
  const { url, requests } = await startReceiver(t, (response) => void response.end('{"received":true,"id":"a"}'));
  const run = (...words: string[]) => runProgram(['run', '--url', url, ...words], { variables });
  await run('sh', '-c', 'test 1 = 2');
  await run('sh', '-c', 'test 1 = 1');
  assert.deepEqual(
    requests.map(({ body }) => JSON.parse(body).source),
    ['test 1'],
  );
});
