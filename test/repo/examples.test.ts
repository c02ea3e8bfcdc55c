import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/app/package-info.ts';
import { startApp } from '../support/app.ts';
import { startProgram } from '../support/program.ts';
import { readText, toBlocks } from './support/documents.ts';

interface Counts {
  total: number;
}

test('examples/seed.json loads with records of each kind', async (t) => {
  const seed = JSON.parse(readText('examples/seed.json'));
  const { request, login } = await startApp(t, { seed });
  const tasks = await request<Counts>('GET', '/api/tasks?status=Completed');
  const items = await request<Counts>('GET', '/api/items', { token: await login('reader') });
  assert.equal(tasks.json.total, 1);
  assert.equal(items.json.total, seed.items.length);
  assert.match((await request('GET', '/simple/api/tasks')).text, /"status":"done"/);
});

test('examples/signalbox.json starts the program and is shown in docs/reference/configuration.md', async (t) => {
  const args = ['--config', join(packageRoot, 'examples', 'signalbox.json')];
  const { request, output } = await startProgram(t, args);
  assert.equal((await request('GET', '/team/api/tasks')).status, 401);
  assert.equal((await request('GET', '/health')).status, 200);
  assert.equal((await request('GET', '/api/alerts')).status, 401);
  assert.doesNotMatch(output.stdout, /Password of/);
  const [shown] = toBlocks(readText('docs/reference/configuration.md'), 'json');
  assert.equal(shown, readText('examples/signalbox.json'));
});
