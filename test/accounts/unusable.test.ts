import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { runCommand, startProgram } from '../support/program.ts';
import { getToken, strong } from './support/accounts.ts';

const hook = { type: 'webhook', url: 'http://127.0.0.1:9/' };

test('unusable settings, of another version or an edited export, prevent neither the start nor the other settings', async (t) => {
  const cwd = createFolder(t);
  await runCommand(['create-user', 'anna'], { cwd, input: `${strong}\n` });
  const [first = '', ...lines] = (await runCommand(['export', '--store', 'file'], { cwd })).stdout.trim().split('\n');
  writeFileSync(join(cwd, 'token'), 'planted');
  const unusable: [kind: string, name: string, value: unknown][] = [
    ['key', 'empty', {}],
    ['key', 'number', 7],
    ['key', 'scopes', { sha256: '0'.repeat(64), scopes: 'alerts:read' }],
    ['user', 'ben', {}],
    ['session-end', 'anna', { notBefore: 'never' }],
    ['intake', 'empty', {}],
    ['intake', 'number', 7],
    ['intake', 'labels', { message: 'a', labels: 7 }],
    ['intake', 'pointer', { message: '{a}' }],
    ['intake', 'grafana', { message: 'a' }],
    ['intake', 'Capital', { message: 'a' }],
    ['intake', 'newer', { message: 'a', colour: 'red' }],
    ['destination', '../../outside', hook],
    ['destination', 'renamed', { ...hook, name: '../../outside' }],
    ['destination', 'file', { ...hook, tokenFile: join(cwd, 'token') }],
  ];
  const added = unusable.map(([kind, name, value], index) => {
    const when = { at: 1_700_000_000_000, createdAt: 1_700_000_000_000, version: 1000 + index };
    return JSON.stringify({ settings: { id: randomUUID(), kind, name, value, by: 'other', ...when } });
  });
  const other = createFolder(t);
  const input = `${[first, ...added, ...lines].join('\n')}\n`;
  const { code, stderr } = await runCommand(['import', '--store', 'file'], { cwd: other, input });
  assert.equal(code, 0, stderr);

  const server = await startProgram(t, ['--store', 'file', '--access', 'login'], { cwd: other });
  const token = await getToken(server, 'anna');
  const namesOf = async (path: string): Promise<string[]> => {
    const { json } = await server.request<{ data: { name: string }[] }>('GET', path, { token });
    return json.data.map(({ name }) => name);
  };
  assert.deepEqual(await namesOf('/api/users'), ['anna']);
  assert.deepEqual(await namesOf('/api/keys'), []);
  assert.deepEqual(await namesOf('/api/destinations'), ['renamed']);
  assert.deepEqual(await namesOf('/api/intake-formats'), ['newer']);
  assert.doesNotMatch(server.output.stderr, /planted/);
});
