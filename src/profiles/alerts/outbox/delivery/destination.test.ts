import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { disk, sendAlert } from '../../../../../test/support/alerts.ts';
import {
  messagesOf,
  readState,
  startOutbox,
  toDestination,
  waitForRequests,
  waitUntilIdle,
} from '../../../../../test/support/outbox.ts';
import { answer, startReceiver } from '../../../../../test/support/receiver.ts';
import { waitUntil } from '../../../../../test/support/wait.ts';

test('alerts are delivered in the order of the log, each once', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startOutbox(t, [toDestination(receiver)]);
  const messages = Array.from({ length: 50 }, (_, n) => `alert ${n}`);
  for (const message of messages) await sendAlert(app, { message });
  await waitForRequests(receiver, 50);
  await waitUntilIdle(app);
  assert.deepEqual(messagesOf(receiver), messages);
  const { lagAlerts, lagSeconds, lastError, parked } = await readState(app);
  assert.deepEqual(
    { lagAlerts, lagSeconds, lastError, parked },
    { lagAlerts: 0, lagSeconds: 0, lastError: null, parked: 0 },
  );
});

for (const [what, behaviour, reason] of [
  ['500', answer(500), 'the receiver responded 500; 3 attempts'],
  ['a redirect', answer(302, { location: '/elsewhere' }), 'the receiver responded 302; 3 attempts'],
  ['429', answer(429), 'the receiver responded 429; 3 attempts'],
  ['a broken connection', (response) => response.destroy(), 'the connection was closed; 3 attempts'],
] satisfies [string, Parameters<typeof startReceiver>[1], string][]) {
  test(`an alert that is answered with ${what} is tried again, then parked, and the next one is delivered`, async (t) => {
    const receiver = await startReceiver(t, behaviour);
    const app = await startOutbox(t, [toDestination(receiver)]);
    const id = await sendAlert(app, disk);
    await waitUntil('the alert is parked', async () => (await readState(app)).parked === 1);
    assert.deepEqual(
      receiver.requests.map(({ path, headers }) => [path, headers['webhook-id']]),
      Array(3).fill(['/hook', id]),
    );
    const [body] = receiver.requests.map((request) => request.body);
    for (const request of receiver.requests) assert.equal(request.body, body);
    const { parkedAlerts, lastError } = await readState(app);
    assert.deepEqual(
      parkedAlerts.map((alert) => [alert.id, alert.reason]),
      [[id, reason]],
    );
    assert.equal(`${lastError?.reason}; 3 attempts`, reason);
    receiver.behave(answer(200));
    await sendAlert(app, { message: 'next' });
    await waitForRequests(receiver, 4);
    assert.equal(messagesOf(receiver).at(-1), 'next');
  });
}

for (const status of [400, 401, 404, 413, 422]) {
  test(`an alert that is answered ${status} is parked at once`, async (t) => {
    const receiver = await startReceiver(t, (response, _request, index) =>
      answer(index === 0 ? status : 200)(response, _request, index),
    );
    const app = await startOutbox(t, [toDestination(receiver)]);
    await sendAlert(app, { message: 'first' });
    await sendAlert(app, { message: 'second' });
    await waitForRequests(receiver, 2);
    await waitUntilIdle(app);
    assert.deepEqual(messagesOf(receiver), ['first', 'second']);
    assert.equal((await readState(app)).parked, 1);
  });
}

test('a failing alert holds back later ones, which are delivered in order after it', async (t) => {
  const receiver = await startReceiver(t, answer(500));
  const app = await startOutbox(t, [toDestination(receiver, { retrySeconds: Array(99).fill(0.05) })]);
  for (const message of ['1', '2', '3']) await sendAlert(app, { message });
  await waitForRequests(receiver, 5);
  assert.deepEqual([...new Set(messagesOf(receiver))], ['1']);
  const { state, lagAlerts, lagSeconds } = await readState(app);
  assert.ok(['waiting', 'delivering'].includes(state));
  assert.equal(lagAlerts, 3);
  assert.ok(lagSeconds > 0 && lagSeconds < 60);
  receiver.behave(answer(204));
  await waitUntilIdle(app);
  assert.deepEqual(messagesOf(receiver).slice(-3), ['1', '2', '3']);
});

test('Retry-After of a 503 is obeyed', async (t) => {
  const receiver = await startReceiver(t, (response, request, index) =>
    answer(index === 0 ? 503 : 200, { 'retry-after': '2' })(response, request, index),
  );
  const app = await startOutbox(t, [toDestination(receiver)]);
  await sendAlert(app, disk);
  await waitUntil('the destination waits', async () => (await readState(app)).state === 'waiting');
  await waitForRequests(receiver, 2);
  const [first, second] = receiver.requests;
  assert.ok((second?.at ?? 0) - (first?.at ?? 0) >= 1950);
});

test('410 ends deliveries until a restart', async (t) => {
  const receiver = await startReceiver(t, answer(410));
  const destination = toDestination(receiver);
  const app = await startOutbox(t, [destination]);
  await sendAlert(app, { message: '1' });
  await waitUntil('the destination is disabled', async () => (await readState(app)).state === 'disabled');
  await sendAlert(app, { message: '2' });
  assert.equal((await readState(app)).lagAlerts, 2);
  assert.equal(receiver.requests.length, 1);
  await app.close();
  receiver.behave(answer(200));
  const next = await startOutbox(t, [destination], { dataDir: join(app.folder, 'data') });
  await waitUntilIdle(next);
  assert.deepEqual(messagesOf(receiver), ['1', '1', '2']);
});

test('after a restart deliveries go on where they ended', async (t) => {
  const receiver = await startReceiver(t);
  const destination = toDestination(receiver);
  const app = await startOutbox(t, [destination]);
  await sendAlert(app, { message: '1' });
  await waitForRequests(receiver, 1);
  await app.close();
  await receiver.close();
  const settings = { dataDir: join(app.folder, 'data') };
  const port = Number(new URL(receiver.url).port);
  const without = await startOutbox(t, [{ ...destination, retrySeconds: [0.2, 0.2, 0.2, 0.2, 0.2] }], settings);
  await sendAlert(without, { message: '2' });
  await waitUntil('an attempt fails', async () => (await readState(without)).lastError !== null);
  await without.close();
  const again = await startReceiver(t, answer(200), port);
  const next = await startOutbox(t, [destination], settings);
  await sendAlert(next, { message: '3' });
  await waitUntilIdle(next);
  assert.deepEqual(messagesOf(again), ['2', '3']);
});

test('a receiver that never answers delays no other destination and no shutdown', async (t) => {
  const hanging = await startReceiver(t, () => undefined);
  const receiver = await startReceiver(t);
  const app = await startOutbox(t, [toDestination(hanging, { name: 'hanging' }), toDestination(receiver)]);
  for (let n = 0; n < 20; n += 1) await sendAlert(app, { message: `${n}` });
  await waitUntilIdle(app);
  assert.equal(receiver.requests.length, 20);
  assert.equal(hanging.requests.length, 1);
  const { state, lagAlerts } = await readState(app, 'hanging');
  assert.deepEqual([state, lagAlerts], ['delivering', 20]);
  const begun = performance.now();
  await app.close();
  assert.ok(performance.now() - begun < 5000);
});

test('a filter by level, source and format chooses the alerts of a destination', async (t) => {
  const receiver = await startReceiver(t);
  const filter = { levels: ['error', 'Critical'], sources: ['disk/*', 'net'], formats: ['native'] };
  const other = await startReceiver(t);
  const foreign = toDestination(other, { name: 'foreign', formats: ['grafana'] });
  const app = await startOutbox(t, [toDestination(receiver, filter), foreign]);
  await sendAlert(app, { level: 'ERROR', source: 'disk/sda', message: '1' });
  await sendAlert(app, { level: 'INFO', source: 'disk/sda', message: '2' });
  await sendAlert(app, { level: 'CRITICAL', source: 'net', message: '3' });
  await sendAlert(app, { level: 'ERROR', source: 'network', message: '4' });
  await waitUntilIdle(app);
  await waitUntilIdle(app, 'foreign');
  assert.deepEqual(messagesOf(receiver), ['1', '3']);
  assert.deepEqual(messagesOf(other), []);
});

test('a new destination gets later alerts, or all of them with startAt oldest', async (t) => {
  const [later, all] = [await startReceiver(t), await startReceiver(t)];
  const app = await startOutbox(t, []);
  await sendAlert(app, { message: 'before' });
  await app.close();
  const destinations = [toDestination(later), toDestination(all, { name: 'all', startAt: 'oldest' })];
  const next = await startOutbox(t, destinations, { dataDir: join(app.folder, 'data') });
  await sendAlert(next, { message: 'after' });
  await waitUntilIdle(next);
  await waitUntilIdle(next, 'all');
  assert.deepEqual(messagesOf(later), ['after']);
  assert.deepEqual(messagesOf(all), ['before', 'after']);
});

test('with concurrency 4 as many requests are under way, and every alert is delivered', async (t) => {
  let running = 0;
  let most = 0;
  const receiver = await startReceiver(t, (response) => {
    running += 1;
    most = Math.max(most, running);
    setTimeout(() => {
      running -= 1;
      response.end();
    }, 20);
  });
  const app = await startOutbox(t, [toDestination(receiver, { concurrency: 4 })]);
  const messages = Array.from({ length: 40 }, (_, n) => `${n}`);
  await Promise.all(messages.map((message) => sendAlert(app, { message })));
  await waitUntilIdle(app);
  assert.equal(most, 4);
  assert.deepEqual(messagesOf(receiver).sort(), messages.sort());
});
