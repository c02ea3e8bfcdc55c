import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import type { Watch, WatchSettings } from '../../src/features/watches/schema.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { waitUntil } from '../support/wait.ts';
import { createWatch, readWatch, waitForAlerts, waitForState } from './support/watches.ts';

interface Health {
  problems: { area: string; severity: string; text: string }[];
}

const readHostProblems = async ({ request }: Pick<TestApp, 'request'>) =>
  (await request<Health>('GET', '/api/status')).json.problems.filter(({ area }) => area === 'host');

test('the health has the state of disks and memory from their watches', async (t) => {
  const watches = [
    { name: 'disk', type: 'disk', limit: 0.0001, level: 'ERROR' },
    { name: 'memory', type: 'memory', limit: 100 },
    { name: 'inodes', type: 'disk', metric: 'inodes', limit: 100 },
    { name: 'units', type: 'journal' },
  ];
  const app = await startApp(t, { settings: { watches, defaultWatches: true } });
  const token = await app.login('admin');
  await waitForState(app, token, 'disk', 'firing');
  const { things } = await readWatch(app, token, 'disk');
  assert.deepEqual(
    await readHostProblems(app),
    things.map(({ text }) => ({ area: 'host', severity: 'ERROR', text })),
  );
  await waitForAlerts(app, things.length);
});

test('default watches check this machine once they are on', async (t) => {
  const app = await startApp(t, { settings: { defaultWatches: true } });
  const token = await app.login('admin');
  // If systemd is running, units are watched by default.
  const hasSystemd = existsSync('/run/systemd/system');
  await waitUntil('all default watches were checked', async () => {
    const { json } = await app.request<{ data: Watch[] }>('GET', '/api/watches', { token });
    return json.data.length === (hasSystemd ? 6 : 5) && json.data.every(({ state }) => state !== 'new');
  });
  assert.notEqual((await readWatch(app, token, 'memory')).state, 'cannot check');
  if (hasSystemd) assert.notEqual((await readWatch(app, token, 'units')).state, 'cannot check');
});

test("without default watches, the health has the state of a disk from a user's watch", async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const own: WatchSettings = { name: 'own', type: 'disk', metric: 'free', limit: 1e14 };
  await createWatch(app, token, own);
  await waitForState(app, token, 'own', 'firing');
  const { things } = await readWatch(app, token, 'own');
  const texts = (await readHostProblems(app)).map(({ text }) => text);
  assert.deepEqual(
    texts,
    things.map(({ text }) => text),
  );
  // The limit is far away, so there is no concern about the disk.
  await app.request('PUT', '/api/watches/own', { token, body: { ...own, limit: 1 } });
  await waitForState(app, token, 'own', 'ok');
  assert.deepEqual(await readHostProblems(app), []);
});
