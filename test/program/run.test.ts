import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { command, runCommand, runProgram } from '../support/program.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait.ts';

const kept = 'the next send or run retries';

const node = process.execPath;
const [program, ...programArgs] = command;

/** Starts a server that stores alerts. */
const startServer = (t: Parameters<typeof startReceiver>[0]) =>
  startReceiver(t, (response) => void response.end('{"received":true,"id":"a"}'));

const readAlerts = ({ requests }: Receiver) => requests.map(({ body }) => JSON.parse(body) as Record<string, string>);

const run = (url: string, args: string[]) => runCommand(['run', '--url', url, ...args]);

/** Returns a command that runs JavaScript. */
const script = (text: string): string[] => ['--', node, '-e', text];

test('run passes input, output and the exit code through, and sends nothing about a success', async (t) => {
  const server = await startServer(t);
  const text = 'process.stdin.pipe(process.stdout); process.stderr.write("warned\\n")';
  const ended = await runProgram(['run', '--url', server.url, ...script(text)], { input: 'given\n' });
  assert.deepEqual([ended.code, ended.stdout, ended.stderr], [0, 'given\n', 'warned\n']);
  assert.equal(server.requests.length, 0);
});

test('run passes 10 MB of any bytes through unchanged', async (t) => {
  const server = await startServer(t);
  const bytes = randomBytes(10_000_000);
  const file = join(createFolder(t), 'bytes');
  writeFileSync(file, bytes);
  const child = spawn(program, [...programArgs, 'run', '--url', server.url, 'cat', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const passed: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => passed.push(chunk));
  assert.deepEqual(await once(child, 'close'), [0, null]);
  assert.ok(Buffer.concat(passed).equals(bytes));
});

test('run sends an alert about a failure with the last lines, and keeps the exit code', async (t) => {
  const server = await startServer(t);
  const text =
    'for (let i = 1; i <= 30; i++) console.log("line " + i); console.error("\\u001b[31mfatal\\u001b[0m"); process.exitCode = 3';
  const ended = await run(server.url, ['--source', 'backup', ...script(`${text} // secret`)]);
  assert.equal(ended.code, 3);
  assert.match(ended.stdout, /^line 1\n(.*\n)*line 30\n$/);
  assert.equal(ended.stderr, '\u001b[31mfatal\u001b[0m\n');
  const [alert, ...others] = readAlerts(server);
  assert.deepEqual(others, []);
  assert.deepEqual([alert?.['source'], alert?.['level'], alert?.['hostname']], ['backup', 'ERROR', hostname()]);
  const [first, ...lines] = alert?.['message']?.split('\n') ?? [];
  assert.match(first ?? '', /^node failed with exit code 3 after \d+ s:$/);
  assert.equal(lines.length, 20);
  assert.ok(lines.includes('line 30') && lines.includes('fatal') && !lines.includes('line 1'));
  assert.doesNotMatch(alert?.['message'] ?? '', /secret/);
});

test('the alert contains at most 4 KiB of output, cut between characters, and only the last state of a progress bar', async (t) => {
  const server = await startServer(t);
  await run(
    server.url,
    script('process.stdout.write("é".repeat(5000) + "\\n10 %\\r50 %\\r99 %\\n", () => process.exit(1))'),
  );
  const message = readAlerts(server)[0]?.['message'] ?? '';
  assert.match(message, /:\né+\n99 %$/);
  assert.ok(Buffer.byteLength(message) < 4200 && message.length > 1900, `${message.length}`);
});

test('run without output, and with flags after the command, needs no dashes', async (t) => {
  const server = await startServer(t);
  const ended = await run(server.url, ['--level', 'WARN', 'sh', '-c', 'exit $1', '--timeout', '7', '--help']);
  assert.equal(ended.code, 7);
  const [alert] = readAlerts(server);
  assert.deepEqual([alert?.['source'], alert?.['level']], ['exit', 'WARN']);
  assert.match(alert?.['message'] ?? '', /^exit failed with exit code 7 after \d+ s$/);
});

test('a command that cannot be started results in an alert and in the exit code that a shell returns', async (t) => {
  const server = await startServer(t);
  const folder = createFolder(t);
  const file = join(folder, 'plain');
  writeFileSync(file, '');
  chmodSync(file, 0o644);
  const orphan = join(folder, 'orphan');
  writeFileSync(orphan, '#!/none/interpreter\n', { mode: 0o755 });
  for (const [program, code, reason] of [
    ['/none/such', 127, 'the program does not exist'],
    [file, 126, 'the file is not executable'],
    [folder, 126, 'the file is not executable'],
    [`${file}/job`, 127, 'not a directory'],
    [`/${'a'.repeat(300)}`, 127, 'name too long'],
    [orphan, 127, 'the interpreter in the first line of the file does not exist'],
  ] as const) {
    const ended = await run(server.url, ['--timeout', '60', program]);
    assert.deepEqual([ended.code, ended.stderr], [code, `signalbox: ${program} could not be started: ${reason}\n`]);
    assert.match(readAlerts(server).at(-1)?.['message'] ?? '', new RegExp(`could not be started: ${reason}$`));
  }
});

test('a command that cannot be started results in a ping of its heartbeat', async (t) => {
  const server = await startReceiver(t, (response) => void response.end('OK'));
  const ended = await run(server.url, ['--heartbeat', 'nightly', '/etc/hostname/job']);
  assert.deepEqual(
    [ended.code, ended.stderr],
    [127, 'signalbox: /etc/hostname/job could not be started: not a directory\n'],
  );
  assert.deepEqual(
    server.requests.map(({ path, body }) => [path.replace(/\?.*/, ''), body]),
    [
      ['/ping/nightly/start', ''],
      ['/ping/nightly/127', 'job could not be started: not a directory'],
    ],
  );
});

test('a command whose working directory is gone is not run, and the alert has the reason', async (t) => {
  const server = await startServer(t);
  const cwd = createFolder(t);
  const gone = join(cwd, 'gone');
  mkdirSync(gone);
  const inGone = ['/bin/sh', '-c', 'cd "$0" && rmdir "$0" && exec "$@"', gone];
  const ended = await runProgram(['run', '--url', server.url, 'touch', 'file'], { wrapper: inGone, cwd });
  const reason = 'could not be started: the working directory was deleted';
  assert.deepEqual([ended.code, ended.stderr], [126, `signalbox: touch ${reason}\n`]);
  assert.deepEqual(
    readAlerts(server).map(({ message }) => message),
    [`touch ${reason}`],
  );
});

test('a command ended by a signal results in 128 plus the number of the signal', async (t) => {
  const server = await startServer(t);
  const { code, signal } = await run(server.url, ['sh', '-c', 'kill -KILL $$']);
  assert.deepEqual([code, signal], [137, null]);
  assert.match(readAlerts(server)[0]?.['message'] ?? '', /^kill was ended by SIGKILL after /);
});

test('the output of the command is a pipe that scripts can open by its name', async (t) => {
  const server = await startServer(t);
  const { code, stdout, stderr } = await run(server.url, [
    'sh',
    '-c',
    'echo out > /dev/stdout; echo err > /dev/stderr',
  ]);
  assert.deepEqual([code, stdout, stderr], [0, 'out\n', 'err\n']);
});

test('run without a folder for its pipes still passes the output on', async (t) => {
  const server = await startServer(t);
  const ended = await runCommand(['run', '--url', server.url, 'sh', '-c', 'echo out; exit 3'], {
    variables: { TMPDIR: '/none' },
  });
  assert.deepEqual([ended.code, ended.stdout, ended.stderr], [3, 'out\n', '']);
});

test('output of a program that the command leaves behind is passed on', async (t) => {
  const server = await startServer(t);
  const { stdout } = await run(server.url, ['sh', '-c', '(sleep 0.5; echo late) & echo early']);
  assert.equal(stdout, 'early\nlate\n');
});

test('run passes signals on to the command', async (t) => {
  const server = await startServer(t);
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const) {
    const text = `process.on('${name}', () => { console.log('got it'); process.exit(9) }); setInterval(() => 0, 1e6); console.log('ready')`;
    const child = spawn(program, [...programArgs, 'run', '--url', server.url, ...script(text)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    await waitUntil('the command runs', () => output === 'ready\n');
    child.kill(name);
    assert.deepEqual(await once(child, 'close'), [9, null]);
    assert.equal(output, 'ready\ngot it\n');
  }
});

test('Ctrl+C in a terminal reaches the command once', async (t) => {
  const server = await startServer(t);
  // `script` from util-linux runs the program in a terminal. An intermediate shell could itself be ended by Ctrl+C.
  const words = [program, ...programArgs].map((word) => `'${word}'`).join(' ');
  const line = `exec ${words} run --url ${server.url} sh -c 'trap "echo got it" INT; echo ready; read line; exit 4'`;
  const child = spawn('script', ['-qec', line, '/dev/null']);
  const failed = await new Promise((resolve) =>
    child.on('spawn', () => resolve(false)).on('error', () => resolve(true)),
  );
  if (failed) return t.skip('script(1) is not installed');
  let shown = '';
  child.stdout.on('data', (chunk) => {
    shown += chunk;
  });
  await waitUntil('the command runs', () => shown.includes('ready'));
  child.stdin.write('\u0003');
  await waitUntil('the command got the signal', () => shown.includes('got it'));
  child.stdin.write('\n');
  assert.deepEqual(await once(child, 'close'), [4, null]);
  assert.equal(shown.split('got it').length, 2);
});

test('after --timeout one alert is sent while the command continues, and a later failure is a second alert', async (t) => {
  const server = await startServer(t);
  const text = 'console.log("copying"); process.stdin.on("end", () => process.exit(4)).resume()';
  const child = spawn(program, [...programArgs, 'run', '--url', server.url, '--timeout', '0.5', ...script(text)], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  await waitUntil('an alert has arrived', () => server.requests.length > 0);
  assert.match(readAlerts(server)[0]?.['message'] ?? '', /^node is still running after \d+ s(:\ncopying)?$/);
  assert.equal(child.exitCode, null);
  child.stdin.end();
  assert.deepEqual(await once(child, 'close'), [4, null]);
  assert.equal(server.requests.length, 2);
  assert.match(readAlerts(server)[1]?.['message'] ?? '', /^node failed with exit code 4 after \d+ s:\ncopying$/);
});

test('--timeout has no effect on a command that ends in time', async (t) => {
  const server = await startServer(t);
  const startedAt = performance.now();
  assert.equal((await run(server.url, ['--timeout', '3600', 'true'])).code, 0);
  assert.ok(performance.now() - startedAt < 60_000);
  assert.equal(server.requests.length, 0);
});

test('an unreachable server changes no exit code, and delays the exit only for --retry-for', async () => {
  const port = await findFreePort();
  const startedAt = performance.now();
  const ended = await run(`http://127.0.0.1:${port}`, ['--retry-for', '1', 'sh', '-c', 'exit 5']);
  assert.deepEqual(
    [ended.code, ended.stderr],
    [5, `signalbox: the alert was not stored: http://127.0.0.1:${port}: the connection was refused; ${kept}\n`],
  );
  assert.ok(performance.now() - startedAt < 30_000);
  assert.equal((await run(`http://127.0.0.1:${port}`, ['true'])).stderr, '');
});

test('a signal ends the wait for the server, with the exit code of the command', async (t) => {
  const server = await startReceiver(t, (response) => void response.writeHead(503).end());
  const child = spawn(
    program,
    [...programArgs, 'run', '--url', server.url, '--retry-for', '600', 'sh', '-c', 'exit 6'],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  await waitUntil('the alert is sent', () => server.requests.length > 0);
  let printed = '';
  child.stderr.on('data', (chunk) => {
    printed += chunk;
  });
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'close'), [6, null]);
  assert.equal(printed, `signalbox: the alert was not stored: interrupted; ${kept}\n`);
});

test('a reader that closes its end ends the command, as without run', async (t) => {
  const server = await startServer(t);
  const child = spawn(program, [...programArgs, 'run', '--url', server.url, 'yes'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  assert.deepEqual(await once(child, 'close'), [141, null]);
});
