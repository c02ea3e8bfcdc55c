import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { refusal, runCommand, startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';

const createKey = async (name: string, ...scopes: string[]) => {
  const args = ['create-key', name, ...scopes.flatMap((scope) => ['--scope', scope])];
  const { code, stdout, stderr } = await runCommand(args);
  assert.equal(code, 0, stderr);
  const key = /sbk_\w+/.exec(stderr)?.[0] ?? '';
  return { key, entry: JSON.parse(stdout) as object, stdout };
};

test('create-key shows the key once and prints its entry, without the key, alone on a line', async () => {
  const { key, entry, stdout } = await createKey('grafana', 'alerts:write', 'alerts:read', 'alerts:write');
  assert.match(stdout, /^\{"name":"grafana","sha256":"[0-9a-f]{64}","scopes":\["alerts:write","alerts:read"\]\}\n$/);
  assert.match(key, /^sbk_[0-9A-Za-z]{43}$/);
  assert.ok(!JSON.stringify(entry).includes(key.slice(4)));
});

test('create-key without a name, or without known scopes, is refused with one line', async () => {
  assert.match(await refusal(['create-key', '--scope', 'alerts:read'], 2), /takes one NAME/);
  assert.match(await refusal(['create-key', 'a', 'b', '--scope', 'alerts:read'], 2), /takes one NAME/);
  assert.match(await refusal(['create-key', 'a'], 2), /needs --scope .*alerts:write, alerts:read, metrics:read$/);
  assert.match(await refusal(['create-key', 'a', '--scope', 'alerts'], 2), /not "alerts"$/);
  for (const name of ['a\nb', 'a\u001b[2Kb', 'a\u2028b']) {
    assert.match(
      await refusal(['create-key', name, '--scope', 'alerts:read'], 2),
      /^NAME must be a name without control characters, not "[ -~]*"$/,
    );
  }
  assert.match(await refusal(['--scope', 'alerts:read'], 2), /--scope belongs to create-key$/);
});

test('on SIGHUP new keys are accepted and removed ones are refused', async (t) => {
  const cwd = createFolder(t);
  const path = join(cwd, 'config.json');
  const [first, second] = await Promise.all([createKey('first', 'alerts:write'), createKey('second', 'alerts:write')]);
  const save = (keys: unknown[]) =>
    writeFileSync(path, JSON.stringify({ alertsAuth: 'bearer', keys }), { mode: 0o600 });
  save([first.entry]);
  const { url, child, output } = await startProgram(t, ['--config', path], { cwd });
  const send = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(`${url}/api/alert`, { method: 'POST', headers, body: '{"message":"a"}' })).status;
  };
  assert.deepEqual([await send(first.key), await send(second.key)], [200, 401]);
  save([second.entry]);
  child.kill('SIGHUP');
  await waitUntil('the settings are reloaded', () => output.stderr.includes('settings reloaded'));
  assert.deepEqual([await send(first.key), await send(second.key)], [401, 200]);
  save([{ ...second.entry, sha256: 'short' }]);
  child.kill('SIGHUP');
  await waitUntil('the settings are refused', () => output.stderr.includes('settings not reloaded'));
  assert.deepEqual([await send(first.key), await send(second.key)], [401, 200]);
  assert.ok(!output.stderr.includes(second.key));
});

test('keys that share a name or a hash, or have an unknown scope, stop startup', async (t) => {
  const cwd = createFolder(t);
  const path = join(cwd, 'config.json');
  const { entry } = await createKey('a', 'alerts:write');
  const refuse = (keys: unknown) => {
    writeFileSync(path, JSON.stringify({ keys }), { mode: 0o600 });
    return refusal(['--config', path], 1);
  };
  assert.match(await refuse([entry, { ...entry, sha256: 'f'.repeat(64) }]), /different names/);
  assert.match(await refuse([entry, { ...entry, name: 'b' }]), /different hashes/);
  assert.match(await refuse([{ ...entry, scopes: ['alerts'] }]), /keys.*scopes.* must be one of alerts:write/);
  assert.match(await refuse([{ ...entry, name: 'a\nb' }]), /keys.*name must be a name without control characters$/);
  assert.match(await refuse([{ ...entry, sha256: 'x' }]), /keys.*sha256 must be the hash/);
  assert.match(await refuse([{ ...entry, key: 'x' }]), /unknown keys; remove key/);
});
