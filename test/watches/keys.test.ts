import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { startReceiver } from '../support/receiver.ts';
import { waitUntilPasses } from '../support/wait.ts';
import { type RaisedAlert, readWatch, waitForState } from './support/watches.ts';

test('watches of each type have for, level, critical, clear and message, and can be paused', async (t) => {
  const { url } = await startReceiver(t);
  const port = Number(new URL(url).port);
  // Any reading reaches both limits.
  const high = { limit: -300, critical: -299, clear: -301 };
  const withLimits = [
    ...['disk', 'memory', 'swap', 'cpu', 'load', 'pressure', 'temperature'].map((type) => ({ type, ...high })),
    { type: 'process', process: 'node*', metric: 'memory', ...high },
    { type: 'http', url, ...high },
    { type: 'tcp', host: '127.0.0.1', port, ...high },
    { type: 'alert', source: 'nobody', ...high },
    { type: 'certificate', path: join(createFolder(t), 'none.pem'), limit: 3, critical: 2, clear: 4 },
  ];
  const questions = [
    { type: 'file', path: join(createFolder(t), 'none') },
    { type: 'service', units: ['no-such-unit'] },
    ...['database', 'journal', 'destination'].map((type) => ({ type })),
  ];
  const common = { every: 1, for: 1, level: 'ERROR', message: 'Call Anna', enabled: true };
  const watches = [...withLimits, ...questions].map((watch) => ({ name: watch.type, ...watch, ...common }));
  const paused = { name: 'paused', type: 'disk', ...high, ...common, enabled: false };
  const app = await startApp(t, { settings: { watches: [...watches, paused] } });
  const token = await app.login('admin');
  const isOwn = ({ type }: { type: string }): boolean => ['database', 'journal', 'destination'].includes(type);
  for (const { name } of watches.filter(isOwn)) await waitForState(app, token, name, 'ok');
  const bad = watches.filter((watch) => !isOwn(watch));
  let alerts: RaisedAlert[] = [];
  await waitUntilPasses(async () => {
    const { json } = await app.request<{ data: RaisedAlert[] }>('GET', '/api/alerts/search?limit=100');
    alerts = json.data;
    assert.deepEqual(new Set(alerts.map(({ source }) => source)), new Set(bad.map(({ name }) => `watch/${name}`)));
  });
  for (const { source, level, details, status, message } of alerts) {
    const isCritical = !message.includes('cannot run its check') && source !== 'watch/file';
    assert.deepEqual([level, status], [isCritical ? 'CRITICAL' : 'ERROR', 'firing'], message);
    assert.match(details ?? '', /^Call Anna(\n\nTimings: .*)?$/, message);
  }
  const { state, things } = await readWatch(app, token, 'paused');
  assert.deepEqual([state, things], ['paused', []]);
});
