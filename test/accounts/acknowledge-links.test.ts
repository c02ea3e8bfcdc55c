import assert from 'node:assert/strict';
import { createHmac, hkdfSync } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitForIncident } from '../incidents/support/incidents.ts';
import { sendAlert } from '../support/alerts.ts';
import { secret, startApp, type TestApp } from '../support/app.ts';
import { adminToken } from '../support/outbox.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import type { Scope } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';

const publicUrl = 'https://signalbox.example.org';

interface Message {
  data: { acknowledgeUrl: string; incidents: { id: string }[] };
}

const toDestination = (receiver: Receiver) => ({
  type: 'webhook',
  url: `${receiver.url}/hook`,
  notify: 'incidents',
  groupSeconds: 0,
});

const put = async (app: TestApp, receiver: Receiver): Promise<void> => {
  const body = toDestination(receiver);
  const { status } = await app.request('PUT', '/api/destinations/phone', { token: await adminToken(app), body });
  assert.ok(status < 300, String(status));
};

const remove = async (app: TestApp): Promise<void> => {
  const { status } = await app.request('DELETE', '/api/destinations/phone', { token: await adminToken(app) });
  assert.equal(status, 200);
};

/** Returns the last message that the receiver gets about a new incident. */
const notify = async (app: TestApp, receiver: Receiver, key: string): Promise<Message['data']> => {
  const before = receiver.requests.length;
  await sendAlert(app, { message: key, source: 'backup', hostname: 'db-1', level: 'CRITICAL', key });
  await waitUntil('the receiver is notified', () => receiver.requests.length > before);
  return (JSON.parse(receiver.requests.at(-1)?.body ?? '') as Message).data;
};

const use = async (app: TestApp, link: string) => {
  const { status, json } = await app.request<{ error?: string }>('POST', new URL(link).pathname);
  return [status, json.error];
};

const refused = [
  403,
  'This link is not valid: its destination was removed, or its address has changed. Acknowledge the incident in the console, or with the link of a newer notification.',
];

/** Restarts the app with its data. */
const restart = async (t: Scope, app: TestApp, dataDir: string, settings: object = {}): Promise<TestApp> => {
  await app.close();
  const again = await startApp(t, { settings: { publicUrl, dataDir, ...settings } });
  await waitForIncident(again, { number: 1 });
  return again;
};

test('a link of a deleted destination stays void when another destination gets its name or its address', async (t) => {
  const [receiver, other] = [await startReceiver(t), await startReceiver(t)];
  let app = await startApp(t, { settings: { publicUrl } });
  const dataDir = join(app.folder, 'data');
  await put(app, receiver);
  const { acknowledgeUrl } = await notify(app, receiver, 'disk full');
  await remove(app);
  assert.deepEqual(await use(app, acknowledgeUrl), refused);
  await put(app, other);
  assert.deepEqual(await use(app, acknowledgeUrl), refused);
  await remove(app);
  await put(app, receiver);
  assert.deepEqual(await use(app, acknowledgeUrl), refused);
  app = await restart(t, app, dataDir);
  assert.deepEqual(await use(app, acknowledgeUrl), refused);
  const { acknowledgeUrl: newer } = await notify(app, receiver, 'no backup');
  assert.deepEqual(await use(app, newer), [200, undefined]);
});

test('a link is void once its destination has another address, and stays valid through other changes and restarts', async (t) => {
  const [receiver, other] = [await startReceiver(t), await startReceiver(t)];
  let app = await startApp(t, { settings: { publicUrl } });
  const dataDir = join(app.folder, 'data');
  await put(app, receiver);
  const { acknowledgeUrl } = await notify(app, receiver, 'disk full');
  const token = await adminToken(app);
  const body = { ...toDestination(receiver), levels: ['CRITICAL'] };
  assert.equal((await app.request('PUT', '/api/destinations/phone', { token, body })).status, 200);
  app = await restart(t, app, dataDir);
  assert.deepEqual(await use(app, acknowledgeUrl), [200, undefined]);
  await put(app, other);
  assert.deepEqual(await use(app, acknowledgeUrl), refused);
});

test('a link of a destination of the config file belongs to its type and address', async (t) => {
  const [receiver, other] = [await startReceiver(t), await startReceiver(t)];
  const destinations = (one: Receiver) => [{ name: 'phone', ...toDestination(one) }];
  let app = await startApp(t, { settings: { publicUrl, destinations: destinations(receiver) } });
  const dataDir = join(app.folder, 'data');
  const { acknowledgeUrl } = await notify(app, receiver, 'disk full');
  app = await restart(t, app, dataDir, { destinations: destinations(other) });
  assert.deepEqual(await use(app, acknowledgeUrl), refused);
  app = await restart(t, app, dataDir);
  await put(app, receiver);
  assert.deepEqual(await use(app, acknowledgeUrl), refused);
  await remove(app);
  app = await restart(t, app, dataDir, { destinations: destinations(receiver) });
  assert.deepEqual(await use(app, acknowledgeUrl), [200, undefined]);
});

/** Returns a link of version 1.1.0. Such a link names only its destination. */
const toFormerLink = (id: string): string => {
  const head = Buffer.alloc(6);
  head.writeUInt8(1);
  head.writeUInt32BE(Math.floor(Date.now() / 1000) + 24 * 60 * 60, 1);
  head.writeUInt8('phone'.length, 5);
  const content = Buffer.concat([head, Buffer.from('phone'), Buffer.from(id.replaceAll('-', ''), 'hex')]);
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'acknowledge', 32));
  const signature = createHmac('sha256', key).update(content).digest().subarray(0, 16);
  return `${publicUrl}/api/acknowledge/ack_${Buffer.concat([content, signature]).toString('base64url')}`;
};

test('links of 1.1.0 are valid, except for destinations that were created after them', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startApp(t, { settings: { publicUrl } });
  await put(app, receiver);
  const { incidents } = await notify(app, receiver, 'disk full');
  const secondsAtLeast = Math.floor(Date.now() / 1000) + 1;
  await waitUntil('the next second', () => Date.now() >= secondsAtLeast * 1000);
  const link = toFormerLink(incidents[0]?.id ?? '');
  await remove(app);
  assert.deepEqual(await use(app, link), refused);
  await waitUntil('the next second', () => Date.now() >= (secondsAtLeast + 1) * 1000);
  await put(app, receiver);
  assert.deepEqual(await use(app, link), refused);
  assert.deepEqual(await use(app, toFormerLink(incidents[0]?.id ?? '')), [200, undefined]);
});
