import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { writeConfig } from '../support/config-file.ts';
import { createFolder } from '../support/folder.ts';
import { messagesOf, toDestination, waitForRequests } from '../support/outbox.ts';
import { startProgram } from '../support/program.ts';
import { startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait.ts';

const quietText = 'Warning: the setting quiet is on. This server sends no alerts and notifies nobody of incidents.';

/**
 * Returns a function that starts the program in a single data folder, with destinations for alerts and for incidents.
 */
const prepare = async (t: TestContext) => {
  const [alerts, incidents] = [await startReceiver(t), await startReceiver(t)];
  const folder = createFolder(t);
  const destinations = [
    toDestination(alerts),
    toDestination(incidents, { name: 'pager', notify: 'incidents', groupSeconds: 0 }),
  ];
  const config = writeConfig(folder, { dataDir: join(folder, 'data'), destinations, timeZone: 'UTC' });
  const start = (...args: string[]) => startProgram(t, ['--config', config, '--port', '0', ...args]);
  return { alerts, incidents, start };
};

const send = async ({ request }: Awaited<ReturnType<typeof startProgram>>, message: string): Promise<void> => {
  const body = { source: message, level: 'CRITICAL', message };
  assert.equal((await request('POST', '/api/alert', { body })).status, 200);
};

test('a quiet start in a restored folder notifies nobody, and a later start sends everything that is due', async (t) => {
  const { alerts, incidents, start } = await prepare(t);
  const first = await start();
  await send(first, 'one');
  await Promise.all([waitForRequests(alerts, 1), waitForRequests(incidents, 1)]);
  await first.stop('SIGTERM');
  const quiet = await start('--quiet');
  await send(quiet, 'two');
  await waitUntil('the incident of the alert is open', async () => {
    const { json } = await quiet.request<{ total: number }>('GET', '/api/incidents');
    return json.total === 2;
  });
  const { json } = await quiet.request<{ problems: { area: string; text: string }[] }>('GET', '/api/status');
  const problems = json.problems.filter(({ area }) => area === 'deliveries');
  assert.deepEqual(
    problems.map(({ text }) => text),
    ['The setting quiet is on: nobody is notified'],
  );
  assert.match(quiet.output.stdout, new RegExp(`^${quietText}$`, 'm'));
  await quiet.stop('SIGTERM');
  assert.deepEqual([alerts.requests.length, incidents.requests.length], [1, 1]);
  const later = await start();
  await Promise.all([waitForRequests(alerts, 2), waitForRequests(incidents, 2)]);
  assert.deepEqual(messagesOf(alerts), ['one', 'two']);
  await later.stop('SIGTERM');
});

test('a quiet server reports its mode in health, in the list of destinations and to programs, and tests no destination', async (t) => {
  const receiver = await startReceiver(t);
  const destinations = [toDestination(receiver)];
  const app = await startApp(t, { settings: { destinations, quiet: true } });
  const token = await app.login('admin');
  const { json: list } = await app.request('GET', '/api/deliveries', { token });
  assert.deepEqual(list, { count: 0, data: [], quiet: true });
  const { json: document } = await app.request('GET', '/openapi.json');
  assert.ok(String(document['x-signalbox-warning']).startsWith(quietText));
  for (const path of ['/api/destinations/hook/test', '/api/deliveries/hook/retry']) {
    const refused = await app.request('POST', path, { token });
    assert.equal(refused.status, 409, path);
    assert.match(refused.text, /The setting quiet is on, so nothing is sent: restart the server without quiet/);
  }
  assert.equal(receiver.requests.length, 0);
});
