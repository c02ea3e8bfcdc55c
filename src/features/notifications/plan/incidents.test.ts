import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { startRefusal, type TestApp } from '../../../../test/support/app.ts';
import { createFolder } from '../../../../test/support/folder.ts';
import {
  act,
  fire,
  messagesTo,
  readIncident,
  startNotifier,
  toIncidentDestination,
  withClock,
} from '../../../../test/support/notifications.ts';
import { adminToken, readState, toDestination, waitForRequests } from '../../../../test/support/outbox.ts';
import { startReceiver } from '../../../../test/support/receiver.ts';
import { waitUntil, waitUntilPasses } from '../../../../test/support/wait.ts';

const minute = 60_000;

test('a destination is notified when an incident opens, rises and is resolved, but not of repeated alerts', async (t) => {
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
  await waitUntil(
    'the resolution is in the timeline',
    async () => (await readIncident(app, 1)).notifications.length === 0,
  );
  const { timeline } = await readIncident(app, 1);
  assert.deepEqual(
    timeline
      .filter(({ destination }) => destination)
      .map(({ type, what, destination, result }) => [type, what, destination, result]),
    ['opened', 'raised', 'resolved'].map((what) => ['notified', what, 'pager', 'delivered']),
  );
  assert.equal(version, 1);
});

test('notifications within groupSeconds are one message', async (t) => {
  const receiver = await startReceiver(t);
  let now = Date.now();
  const options = { features: withClock(() => new Date(now)) };
  const app = await startNotifier(t, [toIncidentDestination(receiver, { groupSeconds: 60 })], {}, options);
  const pass = async (ms: number, count: number): Promise<void> => {
    await waitUntil('all wait', async () => {
      const { waitingNotices } = await readState(app, 'pager');
      return waitingNotices.filter(({ waitsFor }) => waitsFor === 'grouping').length === count;
    });
    now += ms;
  };
  for (const key of ['a', 'b', 'c']) {
    await fire(app, key);
    now += 1000;
  }
  await pass(minute, 3);
  await waitForRequests(receiver, 1);
  assert.deepEqual(messagesTo(receiver).toSorted(), [
    'opened #1 a is broken',
    'opened #2 b is broken',
    'opened #3 c is broken',
  ]);
  await waitUntil(
    'all openings are recorded',
    async () => (await readIncident(app, 3)).notifications[0]?.last?.what === 'opened',
  );
  await fire(app, 'd');
  await pass(minute, 1);
  await waitForRequests(receiver, 2);
  assert.deepEqual(messagesTo(receiver).slice(3), ['opened #4 d is broken']);
});

test('an acknowledgement stops the escalation and reminders, and everyone notified gets the resolution', async (t) => {
  const [first, second, third] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)];
  const app = await startNotifier(t, [
    toIncidentDestination(first, { name: 'first', repeat: 0.01 }),
    toIncidentDestination(second, { name: 'second', after: 0.02, on: ['opened', 'acknowledged', 'resolved'] }),
    toIncidentDestination(third, { name: 'third', after: 60 }),
  ]);
  await fire(app, 'disk');
  await waitForRequests(first, 3);
  await waitForRequests(second, 1);
  await waitUntilPasses(async () => {
    const { notifications } = await readIncident(app, 1);
    assert.deepEqual(
      notifications.map(({ destination, next }) => [destination, next?.what, next?.waitsFor]),
      [
        ['first', 'reminder', 'repeat'],
        ['second', undefined, undefined],
        ['third', 'opened', 'after'],
      ],
    );
  });
  await act(app, 1, 'acknowledge');
  await waitForRequests(second, 2);
  const reminders = first.requests.length;
  await act(app, 1, 'resolve');
  await waitForRequests(second, 3);
  await waitUntil('no notification is left', async () => (await readIncident(app, 1)).notifications.length === 0);
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

test('a due notification does not wait for thousands of incidents that opened before', async (t) => {
  const [first, last] = [await startReceiver(t), await startReceiver(t)];
  let now = Date.now();
  const destinations = [
    toIncidentDestination(first, { name: 'first', after: 60, sources: ['backup'] }),
    toIncidentDestination(last, { name: 'last', sources: ['last'] }),
    ...Array.from({ length: 98 }, (_, index) => toIncidentDestination(last, { name: `d${index}`, after: 600 })),
  ];
  const features = withClock(() => new Date(now));
  const app = await startNotifier(t, destinations, { maxEventLoopDelay: 0 }, { features });
  await fire(app, 'disk');
  for (let from = 0; from < 2500; from += 500) {
    const body = Array.from({ length: 500 }, (_, index) => {
      return { labels: { alertname: `alert ${from + index}`, severity: 'error' } };
    });
    assert.equal((await app.request('POST', '/api/v2/alerts', { body })).status, 200);
  }
  await fire(app, 'end', { source: 'last' });
  now += 60 * minute;
  await waitForRequests(first, 1);
  assert.deepEqual(messagesTo(first), ['opened #1 disk is broken']);
  assert.deepEqual(messagesTo(last), []);
  await waitForRequests(last, 1);
});

test('timers continue after a restart, even if the clock was set', async (t) => {
  const [first, second] = [await startReceiver(t), await startReceiver(t)];
  const destinations = [
    toIncidentDestination(first, { name: 'first', repeat: 60 }),
    toIncidentDestination(second, { name: 'second', after: 90 }),
  ];
  let now = Date.now();
  const features = withClock(() => new Date(now));
  const dataDir = join(createFolder(t), 'data');
  const start = () => startNotifier(t, destinations, { dataDir }, { features });
  const app = await start();
  await fire(app, 'disk');
  await fire(app, 'taken');
  await waitUntil(
    'both destinations are notified',
    async () => (await readIncident(app, 2)).notifications[0]?.last?.what === 'opened',
  );
  await act(app, 2, 'acknowledge');
  await app.close();
  now += 61 * minute;
  const again = await start();
  await waitForRequests(first, 3);
  now += 28 * minute;
  await waitUntil(
    'the notification waits',
    async () => (await readIncident(again, 1)).notifications[1]?.next?.waitsFor === 'after',
  );
  now += 2 * minute;
  await waitForRequests(second, 1);
  now -= 365 * 24 * 60 * minute;
  await fire(again, 'other');
  await waitForRequests(first, 5);
  await again.close();
  assert.deepEqual(messagesTo(first).toSorted(), [
    'opened #1 disk is broken',
    'opened #2 taken is broken',
    'opened #3 other is broken',
    'reminder #1 disk is broken',
    'reminder #1 disk is broken',
  ]);
  assert.deepEqual(messagesTo(second), ['opened #1 disk is broken']);
});

test('a clock that was set back does not delay notifications until it catches up', async (t) => {
  const [grouping, later, reminded] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)];
  let now = Date.now();
  const destinations = [
    toIncidentDestination(grouping, { name: 'grouping', groupSeconds: 30 }),
    toIncidentDestination(later, { name: 'later', after: 5 }),
    toIncidentDestination(reminded, { name: 'reminded', repeat: 5 }),
  ];
  const app = await startNotifier(t, destinations, {}, { features: withClock(() => new Date(now)) });
  await fire(app, 'disk');
  await waitUntil('the destination is notified', async () => {
    const { notifications } = await readIncident(app, 1);
    return notifications.some(({ destination, last }) => destination === 'reminded' && last?.what === 'opened');
  });
  now -= 24 * 60 * minute;
  await waitForRequests(grouping, 1);
  await waitForRequests(later, 1);
  await waitForRequests(reminded, 2);
  await waitUntil('the reminder is noted', async () => {
    const { notifications } = await readIncident(app, 1);
    return notifications.some(({ destination, last }) => destination === 'reminded' && last?.what === 'reminder');
  });
  const counts = [grouping, later, reminded].map(({ requests }) => requests.length);
  assert.deepEqual(counts, [1, 1, 2]);
});

test('a destination that is switched from incidents to alerts gets no earlier alerts', async (t) => {
  const receiver = await startReceiver(t);
  const dataDir = join(createFolder(t), 'data');
  const app = await startNotifier(t, [toIncidentDestination(receiver)], { dataDir });
  for (let count = 0; count < 3; count += 1) await fire(app, `k${count}`, { level: 'INFO' });
  await app.close();
  const again = await startNotifier(t, [toDestination(receiver, { name: 'pager' })], { dataDir });
  await fire(again, 'later', { level: 'INFO' });
  await waitUntil('the later alert has arrived', () =>
    receiver.requests.some(({ body }) => body.includes('later is broken')),
  );
  assert.equal(receiver.requests.length, 1);
});

test('a removed destination is forgotten, and a new one is notified of open incidents', async (t) => {
  const [first, second] = [await startReceiver(t), await startReceiver(t)];
  const dataDir = join(createFolder(t), 'data');
  const app = await startNotifier(t, [toIncidentDestination(first)], { dataDir });
  await fire(app, 'disk');
  await fire(app, 'taken');
  await waitUntil(
    'the opening is recorded',
    async () => (await readIncident(app, 2)).notifications[0]?.last?.what === 'opened',
  );
  await act(app, 2, 'acknowledge');
  await app.close();
  const again = await startNotifier(t, [toIncidentDestination(second, { name: 'other' })], { dataDir });
  await waitForRequests(second, 1);
  await waitUntil('the destination is forgotten', async () => {
    const { notifications } = await readIncident(again, 1);
    return notifications.length === 1 && notifications[0]?.destination === 'other';
  });
  await act(again, 1, 'resolve');
  await act(again, 2, 'resolve');
  await waitForRequests(second, 2);
  assert.deepEqual(messagesTo(second), ['opened #1 disk is broken', 'resolved #1 disk is broken']);
  assert.equal(first.requests.length, 2);
});

test('lists show sent and waiting notifications, with the reason of the wait', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startNotifier(t, [
    toIncidentDestination(receiver),
    toIncidentDestination(receiver, { name: 'later', after: 60 }),
    toIncidentDestination(receiver, { name: 'grouping', groupSeconds: 3600 }),
  ]);
  await fire(app, 'disk');
  await waitForRequests(receiver, 1);
  const token = await adminToken(app);
  const list = async (query: string) => {
    const { json } = await app.request<{ data: { destination: string; what: string; event: string }[]; next: number }>(
      'GET',
      `/api/notifications${query}`,
      { token },
    );
    return json;
  };
  await waitUntil('the opening is listed', async () => (await list('')).data.length === 1);
  await act(app, 1, 'resolve');
  await waitUntil(
    'the resolution is listed',
    async () => (await list('?incident=1&destination=pager')).data.length === 2,
  );
  const page = await list('?limit=1');
  assert.deepEqual(
    [page, await list(`?limit=1&before=${page.next}`)].flatMap(({ data }) => data.map(({ what }) => what)),
    ['resolved', 'opened'],
  );
  assert.deepEqual((await list('?destination=later')).data, []);
  assert.equal((await app.request('GET', '/api/notifications?incident=99', { token })).status, 404);
  await fire(app, 'other');
  await waitUntil('the other notifications wait', async () => {
    const [pager, later, grouping] = await Promise.all(
      ['pager', 'later', 'grouping'].map((name) => readState(app, name)),
    );
    const shown = [pager, later, grouping].map((state) =>
      state?.waitingNotices.map(({ what, waitsFor }) => `${what} ${waitsFor}`),
    );
    return isDeepStrictEqual(shown, [[], ['opened after'], ['opened grouping']]);
  });
  const tested = await app.request('POST', '/api/destinations/pager/test', { token });
  assert.deepEqual([tested.status, tested.json], [200, { delivered: true, response: '200' }]);
  // A notification that waits behind others can be sent now.
  const { id } = (await app.request<{ id: string }>('GET', '/api/incidents/2')).json;
  const sent = await app.request('POST', `/api/deliveries/grouping/${id}/retry`, { token });
  assert.deepEqual(sent.json, { delivered: true, reason: null });
  assert.equal((await app.request('POST', `/api/deliveries/later/${id}/retry`, { token })).status, 404);
});

for (const [problem, changes] of [
  ['after needs "notify": "incidents"', { notify: 'alerts', groupSeconds: undefined, after: 5 }],
  ['formats can be used only with "notify": "alerts"', { formats: ['native'] }],
  ['on contains reminder, so repeat is required: set repeat, in minutes', { on: ['opened', 'reminder'] }],
  [
    'on must contain opened, raised or acknowledged, because a resolution is sent only to destinations that were notified of the incident before',
    { on: ['resolved'] },
  ],
  ['levels: "bad" is not a severity; use CRITICAL, ERROR, WARNING, INFO', { levels: ['bad'] }],
] as const) {
  test(`settings are refused: ${problem}`, async (t) => {
    const receiver = await startReceiver(t);
    const destination = toIncidentDestination(receiver, changes);
    assert.ok((await startRefusal(t, { settings: { destinations: [destination] } })).includes(problem));
  });
}
test('the list of destinations shows the rules of each, defaults included', async (t) => {
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

/** Creates, changes and ends a silence for the broken machines. */
const createSilencer = (app: TestApp) => {
  let path = '/api/silences';
  const ask = async (method: string, body?: object): Promise<void> => {
    const { status, json, text } = await app.request(method, path, {
      token: await adminToken(app),
      ...(body && { body }),
    });
    assert.ok(status < 300, text);
    path = `/api/silences/${json['id']}`;
  };
  return {
    begin: () => {
      path = '/api/silences';
      return ask('POST', { match: { text: '*broken*' }, endsAt: new Date(Date.now() + 60 * minute).toISOString() });
    },
    endAt: (time: number) => ask('PUT', { match: { text: '*broken*' }, endsAt: new Date(time).toISOString() }),
    end: () => ask('DELETE'),
  };
};

test('a silenced incident notifies when the silence ends or is ended, unless it is resolved by then', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startNotifier(t, [toIncidentDestination(receiver)]);
  const { begin, endAt, end } = createSilencer(app);
  await begin();
  await fire(app, 'a');
  await fire(app, 'b');
  await fire(app, 'c', { message: 'loud' });
  await waitForRequests(receiver, 1);
  await waitUntil(
    'the silence is in the timeline',
    async () => (await readIncident(app, 1)).timeline.at(-1)?.type === 'silenced',
  );
  await fire(app, 'a', { level: 'CRITICAL' });
  await waitUntil(
    'the second silence is in the timeline',
    async () => (await readIncident(app, 1)).timeline.length === 4,
  );
  assert.equal((await readIncident(app, 1)).notifications[0]?.next?.waitsFor, 'silence');
  await fire(app, 'b', { status: 'resolved' });
  await endAt(Date.now() + 500);
  await waitForRequests(receiver, 2);
  await begin();
  await act(app, 1, 'resolve');
  await fire(app, 'd', { message: 'loud too' });
  await waitForRequests(receiver, 3);
  await end();
  await waitForRequests(receiver, 4);
  assert.deepEqual(messagesTo(receiver), [
    'opened #3 loud',
    'opened #1 a is broken',
    'opened #4 loud too',
    'resolved #1 a is broken',
  ]);
});

test('metrics count notifications by event and result', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startNotifier(t, [
    toIncidentDestination(receiver),
    toIncidentDestination(receiver, { name: 'later', groupSeconds: 3600 }),
  ]);
  await fire(app, 'disk');
  await waitUntil('the notification is counted', async () => {
    const { text } = await app.request('GET', '/metrics');
    return (
      text.includes('signalbox_notifications_total{destination="pager",what="opened",result="delivered"} 1') &&
      text.includes('signalbox_notifications_waiting{destination="later"} 1') &&
      text.includes('signalbox_delivery_oldest_pending_seconds{destination="later"} 0')
    );
  });
});
