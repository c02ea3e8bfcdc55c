import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { test } from 'node:test';
import { command, runProgram } from '../support/program.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

const [program, ...programArgs] = command;

/** Starts a server that stores alerts. */
const startServer = (t: Parameters<typeof startReceiver>[0]) =>
  startReceiver(t, (response) => void response.end('{"received":true,"id":"a"}'));

const readAlerts = ({ requests }: Receiver) => requests.map(({ body }) => JSON.parse(body) as Record<string, string>);

const run = (url: string, args: string[]) => runProgram(['run', '--url', url, ...args]);

/** Returns a command that runs JavaScript. */
const script = (text: string): string[] => ['--', process.execPath, '-e', text];

test('invalid variables do not stop the command, and are reported if an alert was due', async () => {
  for (const [variables, reason] of [
    [{ SIGNALBOX_URL: 'box' }, /^signalbox: the alert was not stored: SIGNALBOX_URL must be a URL .+\n$/],
    [{ SIGNALBOX_KEY: 'a b' }, /^signalbox: the alert was not stored: SIGNALBOX_KEY must be a key .+\n$/],
  ] as const) {
    const failed = await runProgram(['run', 'sh', '-c', 'echo ran; exit 3'], { variables });
    assert.deepEqual([failed.code, failed.stdout], [3, 'ran\n']);
    assert.match(failed.stderr, reason);
    assert.equal((await runProgram(['run', 'true'], { variables })).stderr, '');
  }
});

test('output that cannot be written is a failure', { skip: !existsSync('/dev/full') }, async (t) => {
  const server = await startServer(t);
  const full = openSync('/dev/full', 'w');
  t.after(() => closeSync(full));
  for (const [line, code, what] of [
    ['echo lost', 1, 'ended, but'],
    ['echo lost; exit 3', 3, 'failed with exit code 3, and'],
  ] as const) {
    const child = spawn(program, [...programArgs, 'run', '--url', server.url, 'sh', '-c', line], {
      stdio: ['ignore', full, 'inherit'],
    });
    assert.deepEqual(await once(child, 'close'), [code, null]);
    const expected = new RegExp(
      `^echo( lost)? ${what} its output could not be written: no space left on device after \\d+ s:\nlost$`,
    );
    assert.match(readAlerts(server).at(-1)?.['message'] ?? '', expected);
  }
});

test('a program that the command leaves behind with the output open delays neither the alert nor the exit', async (t) => {
  const server = await startServer(t);
  const startedAt = performance.now();
  const line = 'sleep 60 & echo $!; exit 3';
  const { code, stdout } = await run(server.url, ['--timeout', '0.9', 'sh', '-c', line]);
  process.kill(Number(stdout));
  assert.equal(code, 3);
  assert.ok(performance.now() - startedAt < 30_000);
  assert.deepEqual(
    readAlerts(server).map(({ message = '' }) => message.replace(/\d+\n?$/, 'PID')),
    ['sleep 60 failed with exit code 3 after 0 s:\nPID'],
  );
});

test('output is complete for a reader that is slower than the command', async (t) => {
  const server = await startServer(t);
  const line = `'${program}' ${programArgs.map((arg) => `'${arg}'`).join(' ')} run --url ${server.url} head -c 150000 /dev/zero`;
  const child = spawn('sh', ['-c', `${line} | (sleep 2.5; wc -c)`], { stdio: ['ignore', 'pipe', 'inherit'] });
  let counted = '';
  child.stdout.on('data', (chunk) => {
    counted += chunk;
  });
  await once(child, 'close');
  assert.equal(counted.trim(), '150000');
});

test('the alert never contains the key, even if output that begins in the middle of the key is kept', async (t) => {
  const server = await startServer(t);
  const key = 'sbk_0123456789abcdef';
  for (const after of [0, 4085, 4096]) {
    const text = `process.stdout.write("key " + process.env.SIGNALBOX_KEY + "x".repeat(${after}), () => process.exit(1))`;
    await runProgram(['run', '--url', server.url, ...script(text)], { variables: { SIGNALBOX_KEY: key } });
    const message = readAlerts(server).at(-1)?.['message'] ?? '';
    assert.doesNotMatch(message, /abcdef/);
    if (after === 0) assert.match(message, /:\nkey \*\*\*$/);
  }
});
