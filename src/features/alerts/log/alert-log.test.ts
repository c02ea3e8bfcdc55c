import assert from 'node:assert/strict';
import { appendFile, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { disk, fileOf, listMessages, sendAlert } from '../../../../test/support/alerts.ts';
import { startApp } from '../../../../test/support/app.ts';
import { SettingsError } from '../../../config/settings-error.ts';

test('the list includes lines of other programs in the form of records', async (t) => {
  const app = await startApp(t);
  await sendAlert(app, disk);
  await appendFile(fileOf(app), '{"message":"by hand"}\nnot a record\n');
  await sendAlert(app, { message: 'last' });
  assert.deepEqual(await listMessages(app), ['sda1 is full', 'by hand', 'last']);
});

test('while the log cannot be written, alerts and readiness get 503, and lists are served', async (t) => {
  const app = await startApp(t);
  await sendAlert(app, disk);
  assert.deepEqual((await app.request('GET', '/ready')).json, { status: 'ready' });
  await rename(fileOf(app), `${fileOf(app)}.away`);
  await mkdir(fileOf(app));
  for (const [method, path] of [
    ['POST', '/api/alert'],
    ['POST', '/api/alert'],
    ['GET', '/ready'],
  ] as const) {
    const { status, headers, json } = await app.request(method, path, method === 'POST' ? { body: disk } : {});
    assert.equal(status, 503);
    assert.equal(headers['retry-after'], '1');
    assert.match(String(json['error']), /cannot be written/);
  }
  assert.deepEqual(await listMessages(app), ['sda1 is full']);
});

test('an unusable data directory stops the start with one sentence', async (t) => {
  const app = await startApp(t);
  await assert.rejects(startApp(t, { settings: { dataDir: fileOf(app) } }), (error) => {
    assert.ok(error instanceof SettingsError);
    assert.match(
      error.message,
      /^dataDir: the log in \S+ cannot be written: a part of the path is not a folder; choose another folder with --data-dir$/,
    );
    return true;
  });
});

test('alerts survive a restart immediately after their receipt', async (t) => {
  const app = await startApp(t);
  await sendAlert(app, disk);
  await app.close();
  const next = await startApp(t, { settings: { dataDir: join(app.folder, 'data') } });
  assert.deepEqual(await listMessages(next), ['sda1 is full']);
});
