import assert from 'node:assert/strict';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClone, createHome, findObstacle, runNpm, startServer } from './clone.ts';

const skip = findObstacle();

test('npm pack in a fresh clone makes a package that installs without warnings and serves', { skip }, async (t) => {
  const home = createHome(t);
  const clone = createClone(home);
  const packed = await runNpm(['pack', '--pack-destination', home.folder], clone, home);
  assert.equal(packed.code, 0, packed.stderr);
  const tarball = readdirSync(home.folder).find((name) => name.endsWith('.tgz')) ?? '';
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
  for (const path of ['/docs/', '/openapi.json', '/health', '/api/processes']) {
    assert.equal((await fetch(url + path)).status, 200, path);
  }
  const wrong = { method: 'POST', body: '{"Username": "admin", "Password": "a wrong one"}' };
  assert.equal((await fetch(`${url}/api/auth/login`, wrong)).status, 401);
  await stop();
});
