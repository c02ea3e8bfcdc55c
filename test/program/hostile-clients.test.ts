import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { startApp } from '../support/app.ts';
import * as attacks from '../support/attacks.ts';
import { openConnection } from '../support/connection.ts';
import { createFolder } from '../support/folder.ts';
import { watchHealth } from '../support/health.ts';
import { isLong, longTest } from '../support/long.ts';
import { watchMemory } from '../support/memory.ts';
import { type Running, startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';

const skip = process.platform !== 'linux' && 'memory is read from /proc';

/** Maximum duration of an attack in seconds, even if not everything has been sent. */
const longest = 3;

/** Maximum milliseconds for a request to /health. Its client shares a process with the attacking clients. */
const slowest = 5000;

interface Bounds {
  /** Maximum growth of the program's memory in MiB. */
  growth: number;
}

/**
 * Attacks the program. It must keep running and serve other clients afterwards. In the long form, /health must respond
 * within the limits.
 */
const assertSurvives = async (
  t: TestContext,
  { child, url, request }: Running,
  begin: (url: string) => Promise<attacks.Attack>,
  { growth }: Bounds,
): Promise<void> => {
  const readGrowth = watchMemory(child.pid ?? 0);
  const health = watchHealth(url);
  const attack = await begin(url);
  t.after(attack.end);
  await Promise.race([attack.sent, setTimeout(longest * 1000, undefined, { ref: false })]);
  const ms = await health.stop();
  const grown = readGrowth();
  t.diagnostic(`memory grew by ${Math.round(grown)} MiB, health took ${Math.round(ms)} ms`);
  if (isLong) {
    assert.ok(grown < growth, `memory grew by ${Math.round(grown)} MiB`);
    assert.ok(ms < slowest, `health took ${Math.round(ms)} ms`);
  }
  attack.end();
  await waitUntil('other clients are served', async () => (await request('GET', '/health')).status === 200);
  assert.equal(child.exitCode, null);
};

longTest('pipelined requests with thousands of header lines use limited memory', { skip }, async (t) => {
  const server = await startProgram(t, ['--profiles', 'M']);
  await assertSurvives(t, server, (url) => attacks.pipelineHeaderLines(url, 15), { growth: 400 });
});

longTest('pipelined requests with the maximum number of headers use limited memory', { skip }, async (t) => {
  const server = await startProgram(t, ['--profiles', 'M']);
  await assertSurvives(t, server, (url) => attacks.pipelineLongHeaders(url, 40), { growth: 400 });
});

longTest('pipelined requests of a few bytes use limited memory', { skip }, async (t) => {
  const server = await startProgram(t, ['--profiles', 'M']);
  await assertSurvives(t, server, (url) => attacks.pipelineShortRequests(url, 15), { growth: 400 });
});

test('silent connections beyond the limit on open files neither stop the program nor keep others out', {
  skip,
}, async (t) => {
  const wrapper = ['/bin/sh', '-c', 'ulimit -n 1024; exec "$@"', 'sh'];
  const server = await startProgram(t, ['--profiles', 'M'], { wrapper });
  await assertSurvives(t, server, (url) => attacks.stayIdle(url, 1050), { growth: 200 });
});

longTest('clients that ask for long lists and do not read use limited memory', { skip }, async (t) => {
  const cwd = createFolder(t);
  const simpleTasks = Array.from({ length: 40_000 }, () => ({ title: 'x'.repeat(250) }));
  writeFileSync(join(cwd, 'seed.json'), JSON.stringify({ simpleTasks }));
  const server = await startProgram(t, ['--profiles', 'M,L', '--seed', 'seed.json'], { cwd });
  const begin = (url: string) => attacks.stopReading(url, 150, ['/api/tasks']);
  await assertSurvives(t, server, begin, { growth: 250 });
});

test('large bodies are accepted again once many stalled ones are dropped', {
  skip,
}, async (t) => {
  const server = await startProgram(t, ['--profiles', 'M,T']);
  const post = async (filling: string): Promise<number> => {
    const body = { Title: 'x', filling };
    return (await server.request('POST', '/api/tasks', { body })).status;
  };
  const begin = async (url: string) => {
    const attack = await attacks.leaveBodiesUnfinished(url, 300);
    await attack.sent;
    assert.equal(await post('small'), 201);
    const large = 'x'.repeat(900_000);
    await waitUntil('a large body is accepted', async () => (await post(large).catch(() => 0)) === 201, 5000);
    return attack;
  };
  await assertSurvives(t, server, begin, { growth: 250 });
});

longTest('bodies in chunks of one byte use no more memory than others', { skip }, async (t) => {
  const server = await startProgram(t, ['--profiles', 'M,T']);
  await assertSurvives(t, server, (url) => attacks.leaveChunksUnfinished(url, 5), { growth: 200 });
});

test('lists of alerts that read much of the log do not keep others out', { skip }, async (t) => {
  const cwd = createFolder(t);
  mkdirSync(join(cwd, 'data'));
  const line = `${JSON.stringify({ level: 'INFO', message: 'm'.repeat(20_000) })}\n`;
  writeFileSync(join(cwd, 'data', 'alerts.jsonl'), line.repeat(10_000));
  const server = await startProgram(t, ['--profiles', 'M,X'], { cwd });
  await assertSurvives(t, server, (url) => attacks.listAlerts(url, 32), { growth: 100 });
});

test('a login whose connection is reset is not logged as an error', async (t) => {
  const { url, request, output, stop } = await startProgram(t, ['--profiles', 'M,A']);
  await attacks.sendAndReset(url, 30, attacks.login);
  // Wrong logins that the server checks are eventually delayed.
  await waitUntil('logins are checked', async () => {
    await attacks.sendAndReset(url, 30, attacks.login, true);
    return output.stderr.includes('delayed');
  });
  assert.equal((await request('GET', '/health')).status, 200);
  const { stderr } = await stop();
  const warnings = stderr.split('\n').filter((line) => !/"level":30|"login: a login was refused"/.test(line));
  assert.match(warnings.join('\n'), /^\{"level":40,.*"ip":"127\.0\.0\.1".*delayed"\}\n$/);
});

test('the audit names the address of a client that resets its connection after a command', async (t) => {
  const { url, request, login } = await startApp(t);
  const token = await login('admin');
  const execute = attacks.toPost('/api/execute', { command: 'ls' }, token);
  type Executions = { data: { remoteAddress: string | null }[] };
  const read = async () => (await request<Executions>('GET', '/api/executions', { token })).json.data;
  // A command does not run if its client disconnects before it starts.
  await waitUntil('ten commands are recorded', async () => {
    await attacks.sendAndReset(url, 10, execute, true);
    return (await read()).length >= 10;
  });
  for (const { remoteAddress } of await read()) assert.equal(remoteAddress, '127.0.0.1');
});

test('a connection with half of its headers is closed immediately on SIGTERM and does not delay shutdown', async (t) => {
  const { url, request, stop } = await startProgram(t, ['--profiles', 'M']);
  const half = openConnection(url);
  t.after(half.destroy);
  half.send('GET /health HTTP/1.1\r\nHost: loc');
  // The response shows that the previous bytes have reached the server.
  assert.equal((await request('GET', '/health')).status, 200);
  const began = performance.now();
  const ended = stop();
  assert.equal((await half.closed()).text, '');
  assert.equal((await ended).code, 0);
  assert.ok(performance.now() - began < 2000);
});

test('CONNECT that is pipelined after a long list is answered after the complete list', async (t) => {
  const tasks = Array.from({ length: 100 }, () => ({ Title: 'x', Description: 'x'.repeat(100_000) }));
  const { url } = await startApp(t, { seed: { tasks } });
  const connection = openConnection(url);
  t.after(connection.destroy);
  connection.send(
    'GET /api/tasks?limit=100 HTTP/1.1\r\nHost: localhost\r\n\r\nCONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n',
  );
  const [list, refusal] = await connection.responses(2);
  assert.deepEqual([list?.status, refusal?.status], [200, 405]);
  assert.equal(JSON.parse(String(list?.body)).data.length, 100);
});

test('a refused request whose body is invalid gets one response', async (t) => {
  const { url } = await startApp(t);
  const connection = openConnection(url);
  t.after(connection.destroy);
  connection.send('POST /nope HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
  assert.equal((await connection.next())?.status, 404);
  connection.send('zz\r\n');
  const { responses } = await connection.closed();
  assert.deepEqual(responses, []);
});

longTest('a list of a few large records uses little memory', { skip }, async (t) => {
  const { url, request, child } = await startProgram(t, ['--profiles', 'M,L']);
  const body = { title: 'x'.repeat(1_000_000) };
  for (let n = 0; n < 60; n += 1) await request('POST', '/simple/api/tasks', { body });
  const readGrowth = watchMemory(child.pid ?? 0);
  for (let n = 0; n < 10; n += 1) {
    const reader = openConnection(url);
    t.after(reader.destroy);
    reader.pause();
    reader.send('GET /simple/api/tasks HTTP/1.1\r\nHost: localhost\r\n\r\n');
  }
  let [growth, readings] = [0, 0];
  await waitUntil('the memory no longer grows', () => {
    const now = readGrowth();
    readings = now > growth ? 0 : readings + 1;
    growth = now;
    return readings > 50;
  });
  assert.ok(growth < 200, `grew by ${Math.round(growth)} MiB`);
});
