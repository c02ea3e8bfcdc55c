import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sendAlert } from '../../../../test/support/alerts.ts';
import type { TestApp } from '../../../../test/support/app.ts';
import {
  fire,
  messagesTo,
  readIncident,
  startNotifier,
  toIncidentDestination,
} from '../../../../test/support/notifications.ts';
import { adminToken, readState, retryAll, toDestination, waitForRequests } from '../../../../test/support/outbox.ts';
import { answer, type Behaviour, startReceiver } from '../../../../test/support/receiver.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import type { Feature } from '../../../kit/feature.ts';
import { features } from '../../index.ts';

const refusing =
  (status: number): Behaviour =>
  (response, { body }) =>
    void response.writeHead(body.includes('poison') ? status : 200).end();

for (const [status, groupSeconds] of [
  [500, 0],
  [500, 0.2],
  [403, 0.2],
  [400, 0.2],
] as const) {
  test(`an incident that a receiver always answers with ${status} holds back none of 300 others, with groupSeconds ${groupSeconds}`, async (t) => {
    const receiver = await startReceiver(t, refusing(status));
    const app = await startNotifier(t, [toIncidentDestination(receiver, { groupSeconds })]);
    await fire(app, 'poison');
    for (let count = 0; count < 300; count += 1) await fire(app, `k${count}`);
    const countMessages = async (): Promise<number> => {
      // One of the incidents may be about this destination.
      const numbers = Array.from({ length: 302 }, (_, index) => index + 1);
      const all = await Promise.all(numbers.map((number) => readIncident(app, number)));
      return all.filter(({ timeline }) => timeline?.some(({ result }) => result === 'delivered')).length;
    };
    await waitUntil('all other incidents have notified', async () => (await countMessages()) === 300);
    const { timeline, notifications } = await readIncident(app, 1);
    if (status === 400) {
      assert.equal(timeline.at(-1)?.result, 'the receiver responded 400');
    } else {
      assert.equal(notifications[0]?.next?.waitsFor, 'receiver');
      assert.match(notifications[0]?.next?.error ?? '', new RegExp(String(status)));
      assert.equal((await readState(app, 'pager')).state, 'waiting');
    }
  });
}

for (const what of ['alerts', 'incidents']) {
  test(`a receiver that does not answer one request in fifteen delays only those ${what}`, async (t) => {
    let hanging = 0;
    const receiver = await startReceiver(t, (response, _request, index) => {
      if (index % 15 === 2) hanging += 1;
      else response.writeHead(200).end();
    });
    const destination = what === 'alerts' ? toDestination(receiver) : toIncidentDestination(receiver);
    const app = await startNotifier(t, [destination]);
    for (let count = 0; count < 60; count += 1) await fire(app, `k${count}`);
    await waitUntil('all other messages are delivered', () => receiver.requests.length >= 60, 12_000);
    assert.equal(hanging, 4);
  });
}

test('a failing destination opens an incident, and only the other destinations are notified', async (t) => {
  const [broken, good] = [await startReceiver(t, answer(404)), await startReceiver(t)];
  const app = await startNotifier(t, [
    toIncidentDestination(broken, { name: 'broken' }),
    toIncidentDestination(good, { name: 'good' }),
  ]);
  await fire(app, 'disk');
  await waitForRequests(good, 2);
  assert.deepEqual(messagesTo(good), [
    'opened #1 disk is broken',
    'opened #2 The destination broken is failing: the receiver responded 404. Its alerts are waiting.',
  ]);
  broken.behave(answer(200));
  await retryAll(app, 'broken');
  await waitForRequests(good, 3);
  assert.match(messagesTo(good)[2] ?? '', /^resolved #2 The destination broken is failing/);
  assert.ok(messagesTo(broken).every((message) => message.includes('#1')));
});

test('a notification that is given up is in the timeline, and its destination gets no resolution', async (t) => {
  const receiver = await startReceiver(t, answer(503));
  const app = await startNotifier(t, [toIncidentDestination(receiver, { giveUpHours: 0.0003 })]);
  await fire(app, 'disk');
  const find = async () => (await readIncident(app, 1)).timeline.find(({ destination }) => destination === 'pager');
  await waitUntil('the notification is given up', async () => (await find()) !== undefined);
  assert.equal((await find())?.result, 'the receiver responded 503; given up after 0.0003 h');
  receiver.behave(answer(200));
  const count = receiver.requests.length;
  await fire(app, 'disk', { status: 'resolved' });
  await waitUntil('nothing is left', async () => (await readIncident(app, 1)).notifications.length === 0);
  assert.equal(receiver.requests.length, count);
});

test('a receiver gets its messages within seconds of its return, and no outdated message', async (t) => {
  const receiver = await startReceiver(t);
  const port = Number(new URL(receiver.url).port);
  await receiver.close();
  const app = await startNotifier(t, [toIncidentDestination(receiver)]);
  await fire(app, 'disk');
  await fire(app, 'over');
  await waitUntil('an attempt fails', async () => (await readIncident(app, 1)).notifications[0]?.next?.attempts !== 0);
  await fire(app, 'over', { status: 'resolved' });
  await fire(app, 'disk', { level: 'CRITICAL' });
  await waitUntil('the incident is resolved', async () => (await readIncident(app, 2)).state === 'resolved');
  const again = await startReceiver(t, answer(200), port);
  await waitForRequests(again, 1);
  await sendAlert(app, { message: 'x', level: 'INFO' });
  await waitUntil('the opening is recorded', async () => (await readIncident(app, 1)).notifications[0]?.last !== null);
  assert.deepEqual(messagesTo(again), ['opened #1 disk is broken']);
});

test('while incidents cannot be stored, every due notification is sent once', async (t) => {
  const receiver = await startReceiver(t);
  const count = 12;
  const app = await startNotifier(t, [toIncidentDestination(receiver, { after: 0.03 })]);
  for (let at = 0; at < count; at += 1) await fire(app, `k${at}`);
  await waitUntil('all wait', async () => (await readState(app, 'pager')).waitingNotices.length === count);
  const path = join(app.folder, 'data', 'alerts.jsonl');
  renameSync(path, `${path}.1`);
  mkdirSync(path);
  await waitForRequests(receiver, count);
  rmdirSync(path);
  await waitUntil(
    'all deliveries are recorded',
    async () => (await readState(app, 'pager')).waitingNotices.length === 0,
  );
  assert.equal(new Set(messagesTo(receiver)).size, count);
  assert.equal(receiver.requests.length, count);
});

/** Returns all features, with silences that fail as long as `isBroken` returns true. */
const withBrokenSilences = (isBroken: () => boolean): Feature[] =>
  features.map((feature) => {
    if (feature.name !== 'silences') return feature;
    const create: Feature['create'] = async (parts) => {
      const { offers: { silences: store } = {}, ...made } = await feature.create(parts);
      assert.ok(store);
      const silencesOf: typeof store.silencesOf = (...args) => {
        if (isBroken()) throw new Error('broken');
        return store.silencesOf(...args);
      };
      return { ...made, offers: { silences: { ...store, silencesOf } } };
    };
    return { ...feature, create };
  });

test('an incident whose planning failed is planned again', async (t) => {
  const receiver = await startReceiver(t);
  let [isBroken, failures] = [false, 0];
  const broken = withBrokenSilences(() => {
    if (isBroken) failures += 1;
    return isBroken;
  });
  const app = await startNotifier(t, [toIncidentDestination(receiver)], {}, { features: broken });
  const token = await adminToken(app);
  const endsAt = new Date(Date.now() + 3_600_000).toISOString();
  const silence = await app.request<{ id: string }>('POST', '/api/silences', {
    token,
    body: { match: { text: 'quiet*' }, endsAt },
  });
  await fire(app, 'quiet');
  await waitUntil(
    'the notification waits',
    async () => (await readIncident(app, 1)).notifications[0]?.next?.waitsFor === 'silence',
  );
  isBroken = true;
  await app.request('DELETE', `/api/silences/${silence.json.id}`, { token });
  await waitUntil('the end of the silence is noticed', () => failures > 0);
  const before = failures;
  await fire(app, 'new');
  await waitUntil('the new incident is noticed', () => failures > before);
  isBroken = false;
  await waitForRequests(receiver, 2);
  assert.deepEqual(messagesTo(receiver).toSorted(), ['opened #1 quiet is broken', 'opened #2 new is broken']);
});

for (const [what, attempt, alert, event] of [
  ['raised', 0, { level: 'CRITICAL' }, 'raised'],
  ['resolved', 1, { status: 'resolved' }, 'resolved'],
] as const) {
  test(`an incident that is ${what} during the last attempt of the previous message still notifies`, async (t) => {
    let app: TestApp | undefined;
    const happen = async (started: TestApp): Promise<void> => {
      await fire(started, 'disk', alert);
      await waitUntil('the event is in the timeline', async () =>
        (await readIncident(started, 1)).timeline.some(({ type }) => type === event),
      );
    };
    const receiver = await startReceiver(t, (response, _request, index) => {
      if (index !== attempt || !app) response.writeHead(200).end();
      else void happen(app).then(() => response.writeHead(503).end());
    });
    const settings = { retrySeconds: [], repeat: 0.01 };
    app = await startNotifier(t, [toIncidentDestination(receiver, settings)]);
    await fire(app, 'disk', { level: 'WARNING' });
    await waitUntil(what, () => messagesTo(receiver).some((text) => text.startsWith(what)));
  });
}
