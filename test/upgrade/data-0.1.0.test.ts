import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';
import { fixtures } from './support/fixture.ts';

/**
 * Data directory of version 0.1.0: three rounds of ten alerts with a new segment in between, two audited commands, a
 * restart, one more alert, and a kill -9 in the middle of a write.
 */
const fixture = join(fixtures, 'data-0.1.0');

const texts = [
  ...['plain', 'ünïcödé ß', '日本語のアラート', 'emoji 🚨 🧯', 'quotes " and \\ backslash', 'line one\nline two\ttab'],
  ...['\u2028 separators \u2029', 'nul \u0000 and bell \u0007', 'العربية', 'x'.repeat(300)],
];

test('a data directory of version 0.1.0 keeps every alert and audit record, and accepts new ones', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  cpSync(fixture, dataDir, { recursive: true });
  const password = 'correct horse';
  const { url, stop } = await startProgram(t, ['--data-dir', dataDir], {
    variables: { SIGNALBOX_ADMIN_PASSWORD: password, SIGNALBOX_READER_PASSWORD: password },
  });
  const request = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, init);
    assert.equal(response.status, 200, path);
    return response.json() as Promise<{ data: Record<string, unknown>[]; token: string }>;
  };
  const stored = [...[...texts, ...texts, ...texts].map((text, index) => `${index + 1} ${text}`), '31 after a restart'];
  const list = async () => (await request('/api/alerts?count=100')).data.map(({ message }) => message);
  assert.deepEqual(await list(), stored);
  await request('/api/alert', { method: 'POST', body: JSON.stringify({ message: 'new' }) });
  assert.deepEqual(await list(), [...stored, 'new']);
  const login = { Username: 'admin', Password: password };
  const { token } = await request('/api/auth/login', { method: 'POST', body: JSON.stringify(login) });
  const audit = await request('/api/executions', { headers: { authorization: `Bearer ${token}` } });
  assert.deepEqual(
    audit.data.map(({ command, decision }) => [command, decision]),
    [
      ['Get-Process', 'allowed'],
      ['Remove-Item', 'refused'],
    ],
  );
  await stop();
  const lines = readFileSync(join(dataDir, 'alerts.jsonl'), 'utf8').trim().split('\n');
  assert.deepEqual(JSON.parse(lines.at(-1) ?? '').seq, 32);
  const saved = readdirSync(dataDir).filter((name) => name.endsWith('.torn'));
  assert.deepEqual(saved, ['alerts.00000001.torn']);
  const torn = readFileSync(join(dataDir, 'alerts.00000001.torn'), 'utf8');
  assert.match(torn, /^\{[^\n]*"message":"32 never acknowledged"[^\n}]*$/);
});
