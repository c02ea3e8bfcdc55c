import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readRecords, sendAlert } from '../../../test/support/alerts.ts';
import type { TestApp } from '../../../test/support/app.ts';
import { createFolder } from '../../../test/support/folder.ts';
import {
  fire,
  messagesTo,
  startNotifier,
  toIncidentDestination,
  withClock,
} from '../../../test/support/notifications.ts';
import {
  messagesOf,
  readState,
  retryAll,
  startOutbox,
  toDestination,
  waitForRequests,
  waitUntilIdle,
} from '../../../test/support/outbox.ts';
import { answer, type Received, startReceiver } from '../../../test/support/receiver.ts';
import { waitUntil } from '../../../test/support/wait.ts';

const waitUntilFailing = (app: TestApp, name: string): Promise<void> =>
  waitUntil(`${name} is failing`, async () => (await readState(app, name)).state === 'failing');

const bodyOf = ({ body }: Received) => JSON.parse(body) as Record<string, unknown>;

/** Reads the stored alerts about destinations: status and destination. */
const readNotifications = async (app: TestApp): Promise<string[]> =>
  (await readRecords(app))
    .filter(({ sender }) => sender === 'signalbox')
    .map(({ status, labels }) => `${status} ${(labels as Record<string, string>)['destination']}`);

test('the failure and recovery of a destination are reported to the other destinations, not to itself', async (t) => {
  const [bad, good] = [await startReceiver(t, answer(404)), await startReceiver(t)];
  const secretUrl = `${bad.url}/hidden`;
  const app = await startOutbox(t, [
    toDestination(bad, { name: 'bad', url: secretUrl }),
    toDestination(good, { levels: ['ERROR'] }),
  ]);
  await sendAlert(app, { level: 'CRITICAL', message: 'first' });
  await waitForRequests(good, 1);
  const firing = bodyOf(good.requests[0] ?? assert.fail());
  assert.equal(
    firing['message'],
    'The destination bad is failing: the receiver responded 404. Its alerts are waiting.',
  );
  assert.deepEqual([firing['source'], firing['level'], firing['status']], ['signalbox', 'ERROR', 'firing']);
  assert.doesNotMatch(JSON.stringify(firing), /hidden|127\.0\.0\.1/);
  bad.behave(answer(200));
  await waitUntilIdle(app, 'bad');
  // The resolution has level INFO, but goes to the same destinations as the alert.
  await waitForRequests(good, 2);
  const resolved = bodyOf(good.requests[1] ?? assert.fail());
  assert.equal(resolved['message'], `Resolved: ${firing['message']}`);
  assert.deepEqual([resolved['level'], resolved['status'], resolved['resolves']], ['INFO', 'resolved', firing['id']]);
  await waitUntilIdle(app);
  assert.deepEqual([...new Set(messagesOf(bad))], ['first']);
  assert.deepEqual(await readNotifications(app), ['firing bad', 'resolved bad']);
});

test('two failing destinations are each reported once, after any number of attempts', async (t) => {
  const [one, other] = [await startReceiver(t, answer(401)), await startReceiver(t, answer(403))];
  const destinations = [toDestination(one, { name: 'one' }), toDestination(other, { name: 'other' })];
  const app = await startOutbox(t, destinations);
  await sendAlert(app, { message: 'first' });
  for (const name of ['one', 'other']) await waitUntilFailing(app, name);
  await waitUntil('both failures are reported', async () => (await readNotifications(app)).length === 2);
  for (let n = 0; n < 5; n += 1) {
    const tried = one.requests.length + other.requests.length;
    for (const name of ['one', 'other']) await retryAll(app, name);
    await waitUntil('both destinations are tried', () => one.requests.length + other.requests.length >= tried + 2);
  }
  assert.deepEqual((await readNotifications(app)).sort(), ['firing one', 'firing other']);
  assert.deepEqual([(await readState(app, 'one')).lagAlerts, (await readState(app, 'other')).lagAlerts], [2, 2]);
});

test('a destination that fails and recovers repeatedly is reported at most once an hour', async (t) => {
  const bad = await startReceiver(t, (response, _request, index) => response.writeHead(index % 2 ? 200 : 404).end());
  const good = await startReceiver(t);
  const app = await startOutbox(t, [toDestination(bad, { name: 'bad' }), toDestination(good)]);
  for (let n = 0; n < 4; n += 1) {
    await sendAlert(app, { message: `${n}` });
    await waitUntil('the destination is tried', () => bad.requests.length > 2 * n);
    await retryAll(app, 'bad');
    await waitUntilIdle(app, 'bad');
  }
  assert.ok(bad.requests.length >= 8);
  assert.deepEqual(await readNotifications(app), ['firing bad', 'resolved bad']);
});

test('after a restart, a failing destination is reported neither twice nor too late', async (t) => {
  const bad = await startReceiver(t, answer(404));
  const destinations = [toDestination(bad, { name: 'bad' })];
  const app = await startOutbox(t, destinations);
  await sendAlert(app, { message: 'first' });
  await waitUntil('the failure is reported', async () => (await readNotifications(app)).length === 1);
  await app.close();
  const settings = { dataDir: join(app.folder, 'data') };
  const tried = bad.requests.length;
  const again = await startOutbox(t, destinations, settings);
  await waitForRequests(bad, tried + 1);
  await again.close();
  bad.behave(answer(200));
  const next = await startOutbox(t, destinations, settings);
  await waitUntilIdle(next, 'bad');
  await waitUntil('the resolution is stored', async () => (await readNotifications(app)).length === 2);
  assert.deepEqual(await readNotifications(app), ['firing bad', 'resolved bad']);
});

test('a receiver that is unreachable for long is reported as failing, also in the metrics', async (t) => {
  const receiver = await startReceiver(t);
  await receiver.close();
  const { retrySeconds: _, ...usual } = toDestination(receiver, { giveUpHours: 0.005 });
  const app = await startOutbox(t, [usual]);
  const readMetric = async () =>
    /^signalbox_destination_failing\{destination="hook"\} (\d)$/m.exec(
      (await app.request('GET', '/metrics')).text,
    )?.[1];
  assert.equal(await readMetric(), '0');
  await sendAlert(app, { message: 'first' });
  await waitUntil('the destination waits', async () => (await readState(app)).state === 'waiting');
  await waitUntilFailing(app, 'hook');
  assert.equal(await readMetric(), '1');
  assert.equal((await readState(app)).parked, 0);
});

test('the alert about a destination that is removed while the server is off is resolved at the next start', async (t) => {
  const [bad, good] = [await startReceiver(t, answer(404)), await startReceiver(t)];
  const failing = toDestination(bad, { name: 'bad' });
  const app = await startOutbox(t, [failing, toDestination(good)]);
  await sendAlert(app, { message: 'first' });
  await waitUntil('the failure is reported', async () => (await readNotifications(app)).length === 1);
  await waitForRequests(good, 2);
  await app.close();
  const settings = { dataDir: join(app.folder, 'data') };
  const without = await startOutbox(t, [toDestination(good)], settings);
  await waitForRequests(good, 3);
  assert.match(messagesOf(good)[2] ?? '', /^Resolved: The destination bad is failing/);
  assert.deepEqual(await readNotifications(app), ['firing bad', 'resolved bad']);
  await without.close();
  bad.behave(answer(200));
  const again = await startOutbox(t, [failing], settings);
  await waitUntilIdle(again, 'bad');
  await again.close();
  await (await startOutbox(t, [], settings)).close();
  assert.deepEqual(await readNotifications(app), ['firing bad', 'resolved bad']);
});

test('a receiver that is unreachable for 15 minutes opens an incident, also if the server restarts meanwhile', async (t) => {
  const [gone, good] = [await startReceiver(t), await startReceiver(t)];
  await gone.close();
  let now = Date.now();
  const features = withClock(() => new Date(now));
  const destinations = [
    toIncidentDestination(gone, { name: 'gone', concurrency: 1 }),
    toIncidentDestination(good, { name: 'good' }),
  ];
  const dataDir = join(createFolder(t), 'data');
  const start = () => startNotifier(t, destinations, { dataDir }, { features });
  const app = await start();
  const attempts = async (of: TestApp): Promise<number> =>
    (await readState(of, 'gone')).waitingNotices.find(({ number }) => number === 1)?.attempts ?? 0;
  await fire(app, 'disk');
  await waitUntil('the destination is tried', async () => (await attempts(app)) > 0);
  now += 14 * 60_000;
  const before = await attempts(app);
  await retryAll(app, 'gone');
  await waitUntil('the destination is tried again', async () => (await attempts(app)) > before);
  assert.notEqual((await readState(app, 'gone')).state, 'failing');
  await app.close();
  now += 2 * 60_000;
  const again = await start();
  await waitUntilFailing(again, 'gone');
  await waitForRequests(good, 2);
  assert.match(messagesTo(good)[1] ?? '', /^opened #2 The destination gone is failing: the connection was refused/);
});
