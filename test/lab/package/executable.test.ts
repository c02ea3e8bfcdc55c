import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { packageRoot, programVersion } from '../../../src/server/package-info.ts';
import { createFolder } from '../../support/folder.ts';
import { runProgram, startProgram } from '../../support/program.ts';
import { build, executable, findObstacle } from './build.ts';

const skip = findObstacle();
/** Variables that keep Node.js and all other programs from being found. */
const variables = { PATH: '/nowhere', SIGNALBOX_ADMIN_PASSWORD: 'correct horse' };
const program = [executable];

before(async () => {
  if (skip === false) await build('executable');
});

test('the executable serves its pages, hashes passwords and stores alerts without Node', { skip }, async (t) => {
  const { request, stop } = await startProgram(t, [], { program, variables });
  for (const [path, file] of [
    ['/docs/', 'public/index.html'],
    ['/docs/page.js', 'public/page.js'],
    ['/docs/favicon.svg', 'console/public/favicon.svg'],
    ['/console/', 'dist/console/index.html'],
    ...readdirSync(join(packageRoot, 'dist', 'console')).map((name) => [`/console/${name}`, `dist/console/${name}`]),
  ] as [string, string][]) {
    const { status, text } = await request('GET', path);
    assert.equal(status, 200, path);
    // The server puts its routes into the console's page.
    const page = text.replace(/<script id="data".*<\/script>\n/, '');
    assert.equal(page, readFileSync(join(packageRoot, file), 'utf8'), path);
  }
  assert.match((await request('GET', '/docs/scalar.js')).text, /createApiReference/);
  for (const path of ['/docs/..%2fpackage.json', '/docs/nothing.html', '/console/.env', '/docs/ui']) {
    assert.equal((await request('GET', path)).status, 404, path);
  }
  const body = { Username: 'admin', Password: 'correct horse' };
  const login = await request('POST', '/api/auth/login', { body });
  assert.equal(login.status, 200, login.text);
  const token = String(login.json['token']);
  const command = { command: 'Get-Process -Id 1' };
  assert.equal((await request('POST', '/api/execute', { token, body: command })).json['success'], true);
  assert.equal((await request('POST', '/api/alert', { body: { message: 'stored' } })).json['received'], true);
  for (const path of ['/openapi.json', '/metrics', '/health', '/api/disks']) {
    assert.equal((await request('GET', path, { token })).status, 200, path);
  }
  const licences = await request<{ data: Record<string, string>[] }>('GET', '/api/about/licences', { token });
  const [node, ...libraries] = licences.json.data;
  assert.ok(node?.['name'] === 'Node.js' && node['text']?.includes('V8') && libraries.length > 50);
  assert.equal((await stop()).code, 0);
});

const hasStrace = spawnSync('strace', ['-V']).status === 0 || process.env['CI'] === 'true';

test('the executable writes only its data to the disk', {
  skip: skip || (!hasStrace && 'strace is not installed'),
}, async (t) => {
  const folder = createFolder(t);
  const cwd = createFolder(t);
  const trace = join(folder, 'trace');
  const calls = 'open,openat,creat,?open_by_handle_at,mkdir,mkdirat,link,linkat,symlink,symlinkat,mknod,mknodat';
  const { request, stop } = await startProgram(t, ['--data-dir', 'data'], {
    program,
    cwd,
    // Otherwise, coverage would be written, too.
    variables: { ...variables, NODE_V8_COVERAGE: '' },
    wrapper: [
      '/usr/bin/env',
      `PATH=${process.env['PATH']}`,
      'strace',
      // The program stays the child, so that signals reach it.
      '-D',
      '-f',
      '-qq',
      '-e',
      `trace=${calls}`,
      '-o',
      trace,
    ],
  });
  for (const path of ['/docs/', '/console/', '/openapi.json']) assert.equal((await request('GET', path)).status, 200);
  await request('POST', '/api/auth/login', { body: { Username: 'admin', Password: 'correct horse' } });
  assert.equal((await request('POST', '/api/alert', { body: { message: 'stored' } })).status, 200);
  assert.equal((await stop()).code, 0);
  const lines = readFileSync(trace, 'utf8').split('\n');
  const written = lines
    .filter(
      (line) => !/ = -1 /.test(line) && (/O_WRONLY|O_RDWR|O_CREAT|O_TMPFILE/.test(line) || !/ open(at)?\(/.test(line)),
    )
    .flatMap((line) => /"([^"]*)"/.exec(line)?.[1] ?? []);
  const elsewhere = written.filter(
    (path) => !path.startsWith(join(cwd, 'data')) && !/^(data|\/dev|\/proc)\//.test(path),
  );
  assert.ok(
    written.some((path) => path.includes('alerts')),
    'the trace has the log of alerts',
  );
  assert.deepEqual(elsewhere, []);
  assert.deepEqual(readdirSync(cwd), ['data']);
});

test("the commands of the executable print the output of the package's commands", { skip }, async () => {
  assert.equal((await runProgram(['--version'], { program, variables })).stdout, `${programVersion}\n`);
  for (const args of [['--help'], ['config-schema']]) {
    const [ours, theirs] = await Promise.all([runProgram(args, { program, variables }), runProgram(args)]);
    assert.equal(ours.code, 0, ours.stderr);
    assert.equal(ours.stdout, theirs.stdout);
  }
  const hashed = await runProgram(['hash-password'], { program, variables, input: 'correct horse' });
  assert.match(hashed.stdout, /^\$argon2id\$v=19\$/);
});
