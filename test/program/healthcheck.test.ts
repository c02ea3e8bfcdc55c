import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { writeCertificate } from '../support/certificate.ts';
import { writeConfig } from '../support/config-file.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { refusal, runCommand, startProgram } from '../support/program.ts';
import { answer, startReceiver } from '../support/receiver.ts';

const check = async (args: string[], variables: Record<string, string> = {}) => {
  const { code, stdout, stderr } = await runCommand(['healthcheck', ...args], { variables });
  return [code, stdout, stderr];
};

const healthy = [0, '', ''];

test('healthcheck finds the server with the flags, variables and config file of its start', async (t) => {
  const folder = createFolder(t);
  const port = String(await findFreePort());
  const config = writeConfig(folder, { port: Number(port), logLevel: 'info' });
  await startProgram(t, ['--config', config, '--port', port]);
  // Settings that healthcheck does not need may have become invalid.
  writeConfig(folder, { port: Number(port), logLevel: 'loud', unknown: 1 });
  assert.deepEqual(await check(['--port', port]), healthy);
  assert.deepEqual(await check(['--config', config]), healthy);
  assert.deepEqual(await check([], { SIGNALBOX_PORT: port }), healthy);
  assert.deepEqual(await check([], { SIGNALBOX_CONFIG: config }), healthy);
  assert.deepEqual(await check(['--url', `http://127.0.0.1:${port}`]), healthy);
});

test('healthcheck reaches a server that listens on every address and serves only one host name', async (t) => {
  for (const host of ['0.0.0.0', 'localhost']) {
    const port = String(await findFreePort());
    const variables = { SIGNALBOX_HOST: host, SIGNALBOX_PORT: port, SIGNALBOX_ALLOWED_HOSTS: 'box.example.org' };
    await startProgram(t, ['--port', port], { variables });
    assert.deepEqual(await check([], variables), healthy, host);
  }
});

test('healthcheck accepts the self-signed certificate of its own server', async (t) => {
  const cwd = createFolder(t);
  const { cert, key } = writeCertificate(cwd, 'box');
  const port = String(await findFreePort());
  const variables = { SIGNALBOX_TLS_CERT: cert, SIGNALBOX_TLS_KEY: key, SIGNALBOX_PORT: port };
  await startProgram(t, ['--port', port], { variables });
  assert.deepEqual(await check([], variables), healthy);
});

test('healthcheck finds the health route of a server with other mounts', async (t) => {
  const folder = createFolder(t);
  for (const [index, mounts] of [
    { '/team': ['alerts'] },
    { '/team': ['monitoring'] },
    { '/': ['simple-tasks'] },
  ].entries()) {
    const port = await findFreePort();
    const config = writeConfig(folder, { mounts, port }, `${index}.json`);
    await startApp(t, { settings: { mounts }, port });
    assert.deepEqual(await check(['--config', config]), healthy, JSON.stringify(mounts));
  }
});

test('healthcheck ends with 1 and one line if the server does not respond, or responds with a status other than 200', async (t) => {
  const port = await findFreePort();
  const refused = `signalbox: not healthy: http://127.0.0.1:${port}: the connection was refused\n`;
  assert.deepEqual(await check(['--port', String(port)]), [1, '', refused]);
  const { url, behave } = await startReceiver(t, answer(503));
  assert.deepEqual(await check(['--url', url]), [1, '', `signalbox: not healthy: ${url}/readyz responded 503\n`]);
  behave(answer(404));
  assert.deepEqual(await check(['--url', url]), [1, '', `signalbox: not healthy: ${url}/readyz responded 404\n`]);
  behave((response) => void response.writeHead(response.req.url === '/readyz' ? 404 : 200).end('not JSON'));
  const [code, , stderr] = await check(['--url', url]);
  assert.equal(code, 1);
  assert.match(String(stderr), /^signalbox: not healthy: [^\n]+\n$/);
  behave((response) => void response.end('<html>'));
  assert.deepEqual(await check(['--url', url]), [1, '', `signalbox: not healthy: ${url} is not a signalbox server\n`]);
  const https = url.replace('http:', 'https:');
  assert.deepEqual(await check(['--url', https]), [
    1,
    '',
    `signalbox: not healthy: ${https}: the server does not speak HTTPS\n`,
  ]);
});

test('healthcheck waits at most 5 seconds', async (t) => {
  const { url } = await startReceiver(t, () => undefined);
  const startedAt = performance.now();
  assert.deepEqual(await check(['--url', url]), [1, '', `signalbox: not healthy: ${url}: no response within 5 s\n`]);
  assert.ok(performance.now() - startedAt < 15_000);
});

test('healthcheck names the setting that it cannot use', async (t) => {
  const config = writeConfig(createFolder(t), '{"port": "x"}');
  assert.match(await refusal(['healthcheck', '--config', config], 1), /^port in \S+ must be a whole number/);
});
