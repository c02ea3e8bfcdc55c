import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import Type from 'typebox';
import { startApp } from '../../../test/support/app.ts';
import { openEvents } from '../../../test/support/events.ts';
import { createClaims, signToken } from '../../../test/support/tokens.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import { openFor } from '../../auth/access.ts';
import type { Feature } from '../../kit/feature.ts';
import { createEventTopic } from '../../kit/topic.ts';
import { features } from '../index.ts';
import { createEvents } from './index.ts';

/** Starts an app with a topic `noise` and returns a function that publishes an event. */
const startNoisyApp = async (t: TestContext) => {
  const { topic, publish } = createEventTopic(openFor('events:read'), Type.Object({}));
  const noisy: Feature = {
    name: 'noisy',
    profiles: [{ name: 'noisy', mounts: ['/'], summary: 'a topic of the test' }],
    settings: {},
    create: () => ({ profiles: { noisy: [] }, topics: { noise: topic } }),
  };
  return { app: await startApp(t, { features: [...features, noisy] }), publish };
};

test('the stream ends when the token expires', async (t) => {
  const app = await startApp(t, { settings: { alertsAuth: 'bearer' } });
  const now = Math.floor(Date.now() / 1000);
  const token = signToken(createClaims({ iat: now - 10, exp: now + 2 }));
  const client = await openEvents(t, app.url, 'alerts', { token });
  assert.equal(client.status, 200);
  await client.ended;
  assert.ok(Date.now() / 1000 >= now + 2);
});

test('the 129th stream is refused with 503 until a stream is closed', async (t) => {
  const app = await startApp(t);
  const clients = await Promise.all(Array.from({ length: 128 }, () => openEvents(t, app.url, 'tasks')));
  for (const { status } of clients) assert.equal(status, 200);
  const extra = await openEvents(t, app.url, 'tasks');
  assert.deepEqual([extra.status, extra.headers['retry-after']], [503, '1']);
  clients[0]?.close();
  await waitUntil('there is room', async () => {
    const client = await openEvents(t, app.url, 'tasks');
    return client.status === 200;
  });
});

test('a stream ends as soon as its client closes the connection', async (t) => {
  const app = await startApp(t);
  const clients = await Promise.all(Array.from({ length: 128 }, () => openEvents(t, app.url, 'tasks')));
  await Promise.all(clients.map(({ waitFor }) => waitFor('hello')));
  for (const client of clients) client.close();
  const startedAt = performance.now();
  await waitUntil('all streams are closed', async () =>
    (await app.request('GET', '/metrics')).text.includes('signalbox_event_streams 0\n'),
  );
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs < 5000, `${tookMs} ms`);
});

test('streams end at once when the server shuts down', async (t) => {
  const app = await startApp(t);
  const clients = await Promise.all(['tasks', 'alerts', 'host'].map((topics) => openEvents(t, app.url, topics)));
  const startedAt = performance.now();
  await app.close();
  await Promise.all(clients.map(({ ended }) => ended));
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs < 4000, `${tookMs} ms`);
});

test('a client with 1 MiB of unread events is disconnected, and other clients are not', async (t) => {
  const { app, publish } = await startNoisyApp(t);
  const [slow, quick] = await Promise.all([openEvents(t, app.url, 'noise'), openEvents(t, app.url, 'noise')]);
  slow.pause();
  const text = 'x'.repeat(100_000);
  let sent = 0;
  // The kernel's buffers on both ends fill up first.
  await waitUntil('the slow client is disconnected', async () => {
    publish(() => ({ text }));
    sent += 1;
    await quick.waitFor('noise', sent);
    return (await app.request('GET', '/metrics')).text.includes('signalbox_event_streams 1\n');
  });
  assert.equal(quick.events().filter(({ name }) => name === 'noise').length, sent);
});

test('128 unread streams do not delay shutdown', async (t) => {
  const { app, publish } = await startNoisyApp(t);
  const clients = await Promise.all(Array.from({ length: 128 }, () => openEvents(t, app.url, 'noise')));
  for (const client of clients) client.pause();
  // Fills the kernel's buffers.
  const text = 'x'.repeat(50_000);
  for (let sent = 0; sent < 100; sent += 1) {
    publish(() => ({ text }));
    await setImmediate();
  }
  for (let sent = 0; sent < 10_000; sent += 1) {
    publish(() => ({ id: sent }));
    if (sent % 100 === 0) await setImmediate();
  }
  const startedAt = performance.now();
  await app.close();
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs < 4000, `${tookMs} ms`);
});

test('an alert of the maximum size of a request is sent, and the alerts after it', async (t) => {
  const app = await startApp(t);
  const client = await openEvents(t, app.url, 'alerts');
  await client.waitFor('hello');
  const message = 'x'.repeat(2 ** 20 - JSON.stringify({ message: '' }).length);
  for (const each of [message, 'short']) await app.request('POST', '/api/alert', { body: { message: each } });
  const received = await client.waitFor('alerts', 2);
  assert.deepEqual(
    received.map(({ data }) => data['message']),
    [message, 'short'],
  );
});

test('comments are sent while there are no events', async (t) => {
  const app = await startApp(t, {
    features: features.map((each) => (each.name === 'events' ? createEvents(50) : each)),
  });
  const client = await openEvents(t, app.url, 'tasks');
  await client.waitFor('hello');
  await waitUntil('two comments are received', () => (client.text().match(/^:$/gm) ?? []).length >= 2);
});
