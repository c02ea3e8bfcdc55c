import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  act,
  fire,
  messagesTo,
  readIncident,
  startNotifier,
  toIncidentDestination,
} from '../../../test/support/notifications.ts';
import { waitForRequests } from '../../../test/support/outbox.ts';
import { startReceiver } from '../../../test/support/receiver.ts';
import { waitUntil } from '../../../test/support/wait.ts';

test('a destination is told that an incident opens, is raised and ends, and not of alerts that repeat it', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startNotifier(t, [toIncidentDestination(receiver)]);
  for (let count = 0; count < 3; count += 1) await fire(app, 'disk');
  await waitForRequests(receiver, 1);
  const { version } = await readIncident(app, 1);
  await fire(app, 'disk', { level: 'CRITICAL' });
  await waitForRequests(receiver, 2);
  await fire(app, 'disk', { status: 'resolved' });
  await waitForRequests(receiver, 3);
  const name = '#1 disk is broken';
  assert.deepEqual(messagesTo(receiver), [`opened ${name}`, `raised ${name}`, `resolved ${name}`]);
  await waitUntil('the end is noted', async () => (await readIncident(app, 1)).notifications.length === 0);
  const { timeline } = await readIncident(app, 1);
  assert.deepEqual(
    timeline
      .filter(({ destination }) => destination)
      .map(({ type, what, destination, result }) => [type, what, destination, result]),
    ['opened', 'raised', 'resolved'].map((what) => ['notified', what, 'pager', 'delivered']),
  );
  assert.equal(version, 1);
});

test('what happens within groupSeconds is one message', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startNotifier(t, [toIncidentDestination(receiver, { groupSeconds: 0.3 })]);
  for (const key of ['a', 'b', 'c']) await fire(app, key);
  await waitForRequests(receiver, 1);
  assert.match(messagesTo(receiver)[0] ?? '', /^3 incidents: opened #1 a is broken, /);
  await waitUntil('all are noted', async () => (await readIncident(app, 3)).notifications[0]?.last?.what === 'opened');
  await fire(app, 'd');
  await waitForRequests(receiver, 2);
  assert.deepEqual(messagesTo(receiver).slice(1), ['opened #4 d is broken']);
});

test('who takes an incident in time ends its escalation and its reminders, and the end goes to those that were told', async (t) => {
  const [first, second, third] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)];
  const app = await startNotifier(t, [
    toIncidentDestination(first, { name: 'first', repeat: 0.01 }),
    toIncidentDestination(second, { name: 'second', after: 0.02, on: ['opened', 'acknowledged', 'resolved'] }),
    toIncidentDestination(third, { name: 'third', after: 60 }),
  ]);
  await fire(app, 'disk');
  await waitForRequests(first, 3);
  await waitForRequests(second, 1);
  const before = await readIncident(app, 1);
  assert.deepEqual(
    before.notifications.map(({ destination, next }) => [destination, next?.what, next?.waitsFor]),
    [
      ['first', 'reminder', 'repeat'],
      ['second', undefined, undefined],
      ['third', 'opened', 'after'],
    ],
  );
  await act(app, 1, 'acknowledge');
  await waitForRequests(second, 2);
  const reminders = first.requests.length;
  await act(app, 1, 'resolve');
  await waitForRequests(second, 3);
  await waitUntil('nothing is left to tell', async () => (await readIncident(app, 1)).notifications.length === 0);
  const name = '#1 disk is broken';
  assert.deepEqual(messagesTo(second), [`opened ${name}`, `acknowledged ${name}`, `resolved ${name}`]);
  const toFirst = messagesTo(first);
  assert.ok(toFirst.length <= reminders + 2);
  assert.deepEqual(
    [toFirst[0], toFirst[1], toFirst.at(-1)],
    [`opened ${name}`, `reminder ${name}`, `resolved ${name}`],
  );
  assert.deepEqual(messagesTo(third), []);
  const { timeline } = await readIncident(app, 1);
  assert.ok(timeline.some(({ type, destination }) => type === 'escalated' && destination === 'second'));
});

test('a list of destinations says when each is told of incidents, with what is usual', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startNotifier(t, [
    toIncidentDestination(receiver, { name: 'second', after: 0.5, repeat: 30, groupSeconds: 0.3, on: ['opened'] }),
    { name: 'log', type: 'webhook', url: receiver.url },
  ]);
  const { json } = await app.request<{ data: { destination: string; incidents: unknown }[] }>(
    'GET',
    '/api/deliveries',
    {
      token: await app.login('admin'),
    },
  );
  assert.deepEqual(
    json.data.map(({ destination, incidents }) => [destination, incidents]),
    [
      ['second', { on: ['opened'], after: 0.5, repeat: 30, groupSeconds: 0.3, hours: null, hoursExcept: ['CRITICAL'] }],
      ['log', null],
    ],
  );
});
