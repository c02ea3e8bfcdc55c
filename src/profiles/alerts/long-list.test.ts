import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readlink, rename } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp, type TestApp } from '../../../test/support/app.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import { fileOf, listMessages, sendAlert } from './test-alerts.ts';

/** Also those that were renamed. */
const countOpenFiles = async (app: TestApp): Promise<number> => {
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  return (await Promise.all(links)).filter((path) => path.startsWith(join(app.folder, 'data', 'alerts')))
    .length;
};

test('a long list is sent in pieces', async (t) => {
  const app = await startApp(t);
  const messages = Array.from({ length: 30 }, (_, n) => String(n).repeat(10_000));
  await Promise.all(messages.map((message) => sendAlert(app, { message })));
  assert.deepEqual((await listMessages(app, '?count=30')).sort(), [...messages].sort());
});

test('a reader that leaves in the middle of a long list keeps no file open', {
  skip: process.platform !== 'linux' && 'open files are counted in /proc',
}, async (t) => {
  const app = await startApp(t);
  const message = 'x'.repeat(1_000_000);
  for (let n = 0; n < 20; n += 1) {
    await sendAlert(app, { message });
  }
  await rename(fileOf(app), join(app.folder, 'data', 'alerts.00000001.jsonl'));
  await sendAlert(app, { message: 'in a new file' });
  assert.equal(await countOpenFiles(app), 1);
  const request = get(`${app.url}/api/alerts?count=20`, { agent: false });
  const [response] = await once(request, 'response');
  await once(response, 'readable');
  assert.equal(await countOpenFiles(app), 2);
  request.destroy();
  await waitUntil('the file is closed', async () => (await countOpenFiles(app)) === 1);
});
