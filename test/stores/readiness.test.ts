import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { waitUntil } from '../support/wait.ts';

test('/ready and /readyz stay 200 while alerts can be stored, and name the stores that refuse changes', async (t) => {
  const { request, folder } = await startApp(t, { settings: { store: 'file' } });
  const readBodies = async () => {
    const answers = [await request('GET', '/ready'), await request('GET', '/readyz')];
    return answers.map(({ status, json }) => ({ status, json }));
  };
  const ready = { status: 200, json: { status: 'ready' } };
  assert.deepEqual(await readBodies(), [ready, ready]);
  const log = join(folder, 'data', 'tasks.jsonl');
  renameSync(log, `${log}.1`);
  mkdirSync(log);
  assert.equal((await request('POST', '/api/tasks', { body: { Title: 'a' } })).status, 503);
  const partly = { status: 200, json: { status: 'ready', unavailable: ['tasks'] } };
  assert.deepEqual(await readBodies(), [partly, partly]);
  assert.equal((await request('POST', '/api/alert', { body: { message: 'a' } })).status, 200);
  rmdirSync(log);
  await waitUntil('tasks can be stored', async () =>
    (await readBodies()).every(({ json }) => !('unavailable' in json)),
  );
  assert.equal((await request('POST', '/api/tasks', { body: { Title: 'a' } })).status, 201);
});
