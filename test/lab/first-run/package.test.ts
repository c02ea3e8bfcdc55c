import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { packageRoot } from '../../../src/server/package-info.ts';
import { listLinkedFiles } from '../../repo/support/documents.ts';
import {
  createClone,
  createHome,
  findObstacle,
  launch,
  listMessages,
  makeFolder,
  measureBytes,
  runNpm,
  startServer,
} from './clone.ts';

const skip = findObstacle();

/** Program that uses the client in a project that depends on the package. */
const program = `
import { createClient } from 'signalbox/client';
const client = createClient(process.argv[2]);
await client.createTask({ Title: 'Check the backups' });
for await (const { Title } of client.each.listTasks()) console.log(Title);
`;

const home = createHome({ after });
const clone = skip ? '' : createClone(home);
const tarball = skip ? '' : await pack();
const prefix = join(home.folder, 'prefix');

async function pack() {
  const packed = await runNpm(['run', 'build:package', '--', '--folder', home.folder], clone, home);
  assert.equal(packed.code, 0, packed.stderr);
  return join(home.folder, readdirSync(home.folder).find((file) => file.endsWith('.tgz')) ?? '');
}

test('packing changes no file of the repository', { skip }, () => {
  for (const file of ['package.json', 'package-lock.json']) {
    assert.equal(readFileSync(join(clone, file), 'utf8'), readFileSync(join(packageRoot, file), 'utf8'), file);
  }
});

test('the package of a fresh clone installs without warnings, fits in 25 MB and serves', { skip }, async (t) => {
  const installed = await runNpm(['install', '--global', '--prefix', prefix, tarball], home.folder, home);
  assert.equal(installed.code, 0, installed.stderr);
  assert.equal(installed.stderr, '');
  const bytes = measureBytes(prefix);
  t.diagnostic(`${bytes} bytes`);
  assert.ok(bytes < 25_000_000, `${bytes} bytes`);
  const { url, stop } = await startServer(t, [join(prefix, 'bin', 'signalbox')], prefix, home);
  for (const path of ['/docs/', '/docs/scalar.js', '/console/', '/openapi.json', '/health', '/api/processes']) {
    assert.equal((await fetch(url + path)).status, 200, path);
  }
  const wrong = { method: 'POST', body: '{"Username": "admin", "Password": "a wrong one"}' };
  assert.equal((await fetch(`${url}/api/auth/login`, wrong)).status, 401);
  await stop();
});

test('the documents of the installed package link to files of the package', { skip }, () => {
  const folder = join(prefix, 'lib', 'node_modules', 'signalbox');
  const documents = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.md') && !path.startsWith('node_modules'),
  );
  assert.ok(documents.length > 15, `${documents.length} documents`);
  const links = documents.flatMap((path) =>
    listLinkedFiles(readFileSync(join(folder, path), 'utf8')).map((link) => `${path} → ${join(dirname(path), link)}`),
  );
  assert.deepEqual(
    links.filter((link) => !existsSync(join(folder, link.split(' → ')[1] ?? ''))),
    [],
  );
});

test('npx runs the package in an empty directory, and a project can import its client', { skip }, async (t) => {
  const empty = makeFolder(home, 'an empty directory');
  const manifest = '{ "type": "module", "private": true }';
  const project = makeFolder(home, 'project', { 'package.json': manifest, 'program.js': program });
  const server = await startServer(t, ['npx', '--yes', '--package', tarball, 'signalbox'], empty, home);
  assert.equal(listMessages(server), '');
  const installed = await runNpm(['install', tarball], project, home);
  assert.deepEqual([installed.code, installed.stderr], [0, '']);
  const { output, ended } = launch(process.execPath, ['program.js', server.url], project, home);
  assert.deepEqual([(await ended).code, output], [0, { stdout: 'Check the backups\n', stderr: '' }]);
  await server.stop();
  assert.deepEqual(readdirSync(empty), []);
});
