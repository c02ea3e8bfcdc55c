import assert from 'node:assert/strict';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { listLinkedFiles } from '../repo/support/documents.ts';
import {
  createClone,
  createHome,
  findObstacle,
  launch,
  listMessages,
  makeFolder,
  runNpm,
  startServer,
} from './clone.ts';

const skip = findObstacle();

/** Uses the client as a program that depends on the package does. */
const program = `
import { createClient } from 'signalbox/client';
const client = createClient(process.argv[2]);
await client.createTask({ Title: 'Check the backups' });
for await (const { Title } of client.each.listTasks()) console.log(Title);
`;

test('npm pack in a fresh clone makes a package', { skip }, async (t) => {
  const home = createHome(t);
  const packed = await runNpm(['pack', '--pack-destination', home.folder], createClone(home), home);
  assert.equal(packed.code, 0, packed.stderr);
  const [name = ''] = readdirSync(home.folder).filter((file) => file.endsWith('.tgz'));
  const tarball = join(home.folder, name);

  await t.test('that installs without warnings, fits in 25 MB and serves', async (t) => {
    const prefix = join(home.folder, 'prefix');
    const installed = await runNpm(['install', '--global', '--prefix', prefix, tarball], home.folder, home);
    assert.equal(installed.code, 0, installed.stderr);
    assert.equal(installed.stderr, '');
    const sizes = readdirSync(prefix, { recursive: true, encoding: 'utf8' }).map(
      (path) => lstatSync(join(prefix, path)).blocks * 512,
    );
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(bytes < 25_000_000, `${bytes} bytes`);
    const { url, stop } = await startServer(t, [join(prefix, 'bin', 'signalbox')], prefix, home);
    for (const path of ['/docs/', '/console/', '/openapi.json', '/health', '/api/processes']) {
      assert.equal((await fetch(url + path)).status, 200, path);
    }
    const wrong = { method: 'POST', body: '{"Username": "admin", "Password": "a wrong one"}' };
    assert.equal((await fetch(`${url}/api/auth/login`, wrong)).status, 401);
    await stop();
  });

  await t.test('whose documents link to files of the package', () => {
    const folder = join(home.folder, 'prefix', 'lib', 'node_modules', 'signalbox');
    const documents = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.md') && !path.startsWith('node_modules'),
    );
    assert.ok(documents.length > 50, `${documents.length} documents`);
    const links = documents.flatMap((path) =>
      listLinkedFiles(readFileSync(join(folder, path), 'utf8')).map((link) => `${path} → ${join(dirname(path), link)}`),
    );
    assert.deepEqual(
      links.filter((link) => !existsSync(join(folder, link.split(' → ')[1] ?? ''))),
      [],
    );
  });

  await t.test('that npx runs in an empty directory, and whose client a project can import', async (t) => {
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
});
