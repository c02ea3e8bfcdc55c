import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeConfig } from '../support/config-file.ts';
import { createFolder } from '../support/folder.ts';
import { refusal, runCommand } from '../support/program.ts';
import { notReloaded, startReloadable } from '../support/reload.ts';

const createKey = async (name: string, ...scopes: string[]) => {
  const args = ['create-key', name, ...scopes.flatMap((scope) => ['--scope', scope])];
  const { code, stdout, stderr } = await runCommand(args);
  assert.equal(code, 0, stderr);
  const key = /sbk_\w+/.exec(stderr)?.[0] ?? '';
  return { key, entry: JSON.parse(stdout) as object, stdout };
};

test('create-key shows the key once and prints its entry without the key on a separate line', async () => {
  const { key, entry, stdout } = await createKey('grafana', 'alerts:write', 'alerts:read', 'alerts:write');
  assert.match(stdout, /^\{"name":"grafana","sha256":"[0-9a-f]{64}","scopes":\["alerts:write","alerts:read"\]\}\n$/);
  assert.match(key, /^sbk_[0-9A-Za-z]{43}$/);
  assert.ok(!JSON.stringify(entry).includes(key.slice(4)));
});

test('on SIGHUP new keys are accepted and removed ones are refused', async (t) => {
  const [first, second] = await Promise.all([createKey('first', 'alerts:write'), createKey('second', 'alerts:write')]);
  const withKeys = (...keys: object[]) => ({ alertsAuth: 'bearer', keys });
  const { url, output, reload } = await startReloadable(t, withKeys(first.entry));
  const send = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(`${url}/api/alert`, { method: 'POST', headers, body: '{"message":"a"}' })).status;
  };
  assert.deepEqual([await send(first.key), await send(second.key)], [200, 401]);
  await reload(withKeys(second.entry));
  assert.deepEqual([await send(first.key), await send(second.key)], [401, 200]);
  await reload(withKeys({ ...second.entry, sha256: 'short' }), notReloaded);
  assert.deepEqual([await send(first.key), await send(second.key)], [401, 200]);
  assert.ok(!output.stderr.includes(second.key));
});

test('keys that share a name or a hash, or have an unknown scope, stop startup', async (t) => {
  const folder = createFolder(t);
  const { entry } = await createKey('a', 'alerts:write');
  const refuse = (keys: unknown) => refusal(['--config', writeConfig(folder, { keys })], 1);
  assert.match(await refuse([entry, { ...entry, sha256: 'f'.repeat(64) }]), /needs a different name/);
  assert.match(await refuse([entry, { ...entry, name: 'b' }]), /needs a different hash/);
  assert.match(await refuse([{ ...entry, scopes: ['alerts'] }]), /keys.*scopes.* must be one of alerts:write/);
  assert.match(await refuse([{ ...entry, name: 'a\nb' }]), /keys.*name must be a name without control characters$/);
  assert.match(await refuse([{ ...entry, sha256: 'x' }]), /keys.*sha256 must be the hash/);
  assert.match(await refuse([{ ...entry, key: 'x' }]), /unknown keys; remove key/);
});
