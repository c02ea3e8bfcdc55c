import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { packageRoot, programVersion } from '../../src/server/package-info.ts';
import { createFolder } from '../support/folder.ts';
import { runProgram, startProgram } from '../support/program.ts';
import { startFake } from '../watches/support/servers.ts';

test('the bundled program works like the separate modules', async (t) => {
  const variables = { SIGNALBOX_ADMIN_PASSWORD: 'correct horse' };
  const { request, stop } = await startProgram(t, [], { variables, bundled: true });
  const post = async (path: string, body: object, token = '') => {
    const { status, json } = await request('POST', path, { token, body });
    assert.ok(status < 300, `${path}: ${status}`);
    return json;
  };
  const login = await post('/api/auth/login', { Username: 'admin', Password: 'correct horse' });
  const token = String(login['token']);
  assert.equal((await post('/api/tasks', { Title: 'one file' }))['Id'], 1);
  assert.equal((await post('/api/alert', { message: 'stored' }))['received'], true);
  assert.equal((await post('/api/execute', { command: 'Get-Process -Id 1' }, token))['success'], true);
  // The driver of MySQL has a file of its own.
  const mysql = {
    name: 'x',
    type: 'mysql',
    host: '127.0.0.1',
    port: await startFake(t, (socket) => void socket.end()),
  };
  const { things } = await post('/api/watches/test', { ...mysql, user: 'ben' }, token);
  assert.match(JSON.stringify(things), /fails: the connection was closed/);
  for (const path of ['/docs/', '/openapi.json', '/api/processes', '/api/disks', '/protected/api/health']) {
    assert.equal((await request('GET', path)).status, 200, path);
  }
  assert.equal((await stop()).code, 0);
});

test('the bundled program runs commands and rejects bad settings', async () => {
  assert.equal((await runProgram(['--version'], { bundled: true })).stdout, `${programVersion}\n`);
  const { code, stderr } = await runProgram(['--port', 'x'], { bundled: true });
  assert.equal(code, 1);
  assert.match(stderr, /^signalbox: [^\n]+\n$/);
});

test('commands for scripts run without the file that contains the server', async (t) => {
  const folder = createFolder(t);
  const program = join(folder, 'dist', 'signalbox.js');
  for (const file of ['dist/signalbox.js', 'dist/parts', 'dist/texts.json', 'package.json']) {
    cpSync(join(packageRoot, file), join(folder, file), { recursive: true });
  }
  const { url } = await startProgram(t, ['--profiles', 'alerts'], { bundled: true });
  const run = (...args: string[]) => promisify(execFile)(process.execPath, [program, ...args]);
  for (const args of [
    ['send', '--url', url, 'x'],
    ['run', '--url', url, 'true'],
    ['healthcheck', '--url', url],
    ['healthcheck', '--port', new URL(url).port],
    ['send', '--help'],
    ['--help'],
    ['man-page'],
  ]) {
    assert.equal((await run(...args)).stderr, '', args.join(' '));
  }
  await assert.rejects(run('hash-password'), /server\.js/);
});

test('the package contains the program, its pages and examples, but no tests', async () => {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: packageRoot,
  });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => path);
  for (const path of [
    'dist/mysql.js',
    'dist/server.js',
    'dist/signalbox.js',
    'dist/console/index.html',
    'dist/public/index.html',
    'dist/public/scalar.js.gz',
    'examples/signalbox.json',
    'README.md',
  ]) {
    assert.ok(paths.includes(path), path);
  }
  assert.ok(paths.some((path) => path.startsWith('dist/parts/run-agent-')));
  assert.deepEqual(
    paths.filter((path) => /(^|\/)test\/|\.test\./.test(path)),
    [],
  );
});
