import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';

test('on SIGHUP the logs of the file store continue in new files, and nothing is missing after the next start', async (t) => {
  const cwd = createFolder(t);
  const flags = ['--store', 'file', '--data-dir', '.'];
  const { request, child, stop } = await startProgram(t, flags, { cwd });
  const logs = ['tasks.jsonl', 'simple-tasks.jsonl'].map((name) => join(cwd, name));
  await request('POST', '/api/tasks', { body: { Title: 'before' } });
  await request('POST', '/simple/api/tasks', { body: { title: 'before' } });
  for (const log of logs) renameSync(log, `${log}.1`);
  child.kill('SIGHUP');
  const states = ['tasks.state', 'simple-tasks.state'].map((name) => join(cwd, name));
  await waitUntil('new files exist', () => [...logs, ...states].every((path) => existsSync(path)));
  await stop('SIGTERM');
  const next = await startProgram(t, flags, { cwd });
  assert.match((await next.request('GET', '/api/tasks')).text, /before/);
  assert.match((await next.request('GET', '/simple/api/tasks')).text, /before/);
});

test('on SIGHUP the alert log continues in a new file if the old one was moved away', async (t) => {
  const cwd = createFolder(t);
  const { request, child } = await startProgram(t, ['--profiles', 'X', '--data-dir', '.'], { cwd });
  const log = join(cwd, 'alerts.jsonl');
  const send = (message: string) => request('POST', '/api/alert', { body: { message } });
  await send('before');
  renameSync(log, `${log}.1`);
  child.kill('SIGHUP');
  await waitUntil('a new file exists', () => existsSync(log));
  assert.equal((await send('after')).status, 200);
  assert.match(readFileSync(`${log}.1`, 'utf8'), /"message":"before"/);
  assert.match(readFileSync(log, 'utf8'), /"message":"after"/);
});
