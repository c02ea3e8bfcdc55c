import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { passwords, startApp } from '../support/app.ts';
import { sendRaw } from '../support/connection.ts';
import { createFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';

const line = '{"level":60,"msg":"forged"}';

/** Strings that end a line in some viewers, or move a terminal's cursor. */
const breaks = ['\n', '\r\n', '\u0085', '\u2028', '\u2029', '\u001b[2K\u001b[1A', '\b'.repeat(9), '\0', '"}\n'];

const toRequest = (target: string, headers = ''): Buffer =>
  Buffer.from(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n${headers}Connection: close\r\n\r\n`);

test('text from a request adds neither a log line nor a terminal control character to the log', async (t) => {
  const args = ['--log-level', 'trace', '--data-dir', createFolder(t)];
  const variables = { SIGNALBOX_ADMIN_PASSWORD: passwords.admin };
  const { url, request, stop } = await startProgram(t, args, { variables });
  const post = (path: string, body: object, token = '') => request('POST', path, { token, body });
  const login = await post('/api/auth/login', { Username: 'admin', Password: passwords.admin });
  const token = String(login.json['token']);
  for (const text of breaks) {
    const forged = `x${text}${line}`;
    await sendRaw(url, toRequest(`/api/tasks/${forged}`));
    await sendRaw(url, toRequest(`/api/tasks/${encodeURIComponent(forged)}?a=${encodeURIComponent(forged)}`));
    await sendRaw(url, toRequest('/health', `User-Agent: ${forged}\r\nX-Request-Id: ${forged}\r\n`));
    await sendRaw(url, toRequest('/health', `Request-Id: ${forged}\r\nX-Forwarded-For: ${forged}\r\n`));
    await post('/api/auth/login', { Username: forged, Password: forged });
    await post('/api/execute', { command: `Get-Process ${forged}` }, token);
    await post('/api/alert', { message: forged });
  }
  const { stderr } = await stop();
  const lines = stderr.trimEnd().split('\n');
  const entries = lines.map((entry) => JSON.parse(entry) as Record<string, unknown>);
  assert.ok(entries.filter(({ msg }) => msg === 'request').length > breaks.length * 4);
  for (const entry of entries) assert.ok(entry['msg'] !== 'forged' && entry['level'] !== 60, JSON.stringify(entry));
  assert.match(stderr, /^[ -~\n]*$/);
});

test('a delayed address is logged once, for any number of logins', async (t) => {
  const lines: string[] = [];
  const log = pino({}, { write: (each: string) => lines.push(each) });
  const { request } = await startApp(t, { log });
  for (let count = 0; count < 20; count += 1) {
    await request('POST', '/api/auth/login', { body: { Username: `nobody ${count}`, Password: 'x' } });
  }
  const warnings = lines.filter((entry) => entry.includes('now delayed'));
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /"level":40.*"ip":"127\.0\.0\.1"/);
});
