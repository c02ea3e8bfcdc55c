import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestApp } from '../../../../test/support/app.ts';
import {
  act,
  fire,
  messagesTo,
  startNotifier,
  type Timeline,
  toIncidentDestination,
  withClock,
} from '../../../../test/support/notifications.ts';
import { adminToken, waitForRequests } from '../../../../test/support/outbox.ts';
import { createPerson, createUser, putPolicy } from '../../../../test/support/people.ts';
import { type Receiver, startReceiver } from '../../../../test/support/receiver.ts';
import { waitUntil, waitUntilPasses } from '../../../../test/support/wait.ts';

const minute = 60_000;
const name = '#1 disk is broken';

interface Shown {
  state: string;
  escalation: {
    policy: string;
    step: number;
    round: number;
    next: { step: number; round: number; dueAt: string | null; targets: string[] } | null;
  } | null;
  timeline: { type: string; by: string; targets: string[] | null; step: number | null; round: number | null }[];
}

const readIncident = async (app: TestApp, number = 1): Promise<Shown> =>
  (await app.request<Shown>('GET', `/api/incidents/${number}`)).json;

/** Returns the steps in the timeline: round, step and targets. */
const stepsOf = ({ timeline }: Shown): unknown[] =>
  timeline.flatMap(({ type, round, step, targets }) => (type === 'addressed' ? [[round, step, targets?.join()]] : []));

const isAt = (app: TestApp, step: number, round = 1): Promise<void> =>
  waitUntil(`step ${step} of round ${round} is taken`, async () => {
    const { escalation } = await readIncident(app);
    return escalation?.step === step && escalation.round === round;
  });

test('a policy notifies its people step by step until somebody acknowledges the incident', async (t) => {
  const [anna, ben, room] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)];
  let now = Date.now();
  const app = await startNotifier(
    t,
    [toIncidentDestination(room, { name: 'room' })],
    {},
    {
      features: withClock(() => new Date(now)),
    },
  );
  await createPerson(app, 'anna', anna);
  await createPerson(app, 'ben', ben);
  const steps = [
    { notify: ['person:anna'], wait: '5 minutes' },
    { notify: ['person:ben', 'destination:room'], wait: '10 minutes' },
  ];
  await putPolicy(app, { steps, repeat: 1 });
  await fire(app, 'disk');
  await waitForRequests(anna, 1);
  await isAt(app, 1);
  const { escalation } = await readIncident(app);
  const { dueAt = '', ...next } = escalation?.next ?? {};
  assert.deepEqual(next, { policy: 'ops', step: 2, round: 1, targets: ['person:ben', 'destination:room'] });
  assert.ok(Math.abs(Date.parse(`${dueAt}`) - now - 5 * minute) < 1000);
  now += 4 * minute;
  assert.deepEqual([messagesTo(ben), messagesTo(room)], [[], []]);
  now += minute;
  await waitForRequests(ben, 1);
  await waitForRequests(room, 1);
  now += 10 * minute;
  await waitForRequests(anna, 2);
  await isAt(app, 1, 2);
  await act(app, 1, 'acknowledge');
  for (const receiver of [anna, ben])
    await waitUntil(
      'all receivers get the acknowledgement',
      () => messagesTo(receiver).at(-1) === `acknowledged ${name}`,
    );
  now += 60 * minute;
  await act(app, 1, 'resolve');
  for (const receiver of [anna, ben, room])
    await waitUntil('all receivers get the resolution', () => messagesTo(receiver).at(-1) === `resolved ${name}`);
  assert.deepEqual(messagesTo(anna), [
    `opened ${name}`,
    `reminder ${name}`,
    `acknowledged ${name}`,
    `resolved ${name}`,
  ]);
  assert.deepEqual(messagesTo(ben), [`opened ${name}`, `acknowledged ${name}`, `resolved ${name}`]);
  assert.deepEqual(messagesTo(room), [`opened ${name}`, `resolved ${name}`]);
  assert.deepEqual(stepsOf(await readIncident(app)), [
    [1, 1, 'person:anna'],
    [1, 2, 'person:ben,destination:room'],
    [2, 1, 'person:anna'],
  ]);
});

test('a Reader can skip to the next step, and the request is refused if no step follows', async (t) => {
  const [anna, ben] = [await startReceiver(t), await startReceiver(t)];
  const app = await startNotifier(t, []);
  const token = await createPerson(app, 'anna', anna);
  await createPerson(app, 'ben', ben);
  const escalate = () => app.request('POST', '/api/incidents/1/escalate', { token, body: {} });
  await fire(app, 'disk');
  assert.equal((await escalate()).status, 409);
  await putPolicy(app, { steps: [{ notify: ['person:anna'], wait: '1 hour' }, { notify: ['person:ben'] }] });
  await fire(app, 'disk', { level: 'CRITICAL' });
  await isAt(app, 1);
  assert.equal((await escalate()).status, 200);
  await waitForRequests(ben, 1);
  const { timeline, escalation } = await readIncident(app);
  assert.deepEqual([timeline.findLast(({ type }) => type === 'addressed')?.by, escalation?.next], ['anna', null]);
  const refused = await escalate();
  assert.deepEqual([refused.status, refused.json['error']], [409, 'Incident #1 has no further escalation step']);
  await act(app, 1, 'acknowledge');
  assert.match((await escalate()).json['error'] as string, /is acknowledged: reopen the incident first/);
});

test('a rise in level starts the policy anew, also for people who were notified', async (t) => {
  const [anna, ben] = [await startReceiver(t), await startReceiver(t)];
  let now = Date.now();
  const app = await startNotifier(t, [], {}, { features: withClock(() => new Date(now)) });
  await createPerson(app, 'anna', anna);
  await createPerson(app, 'ben', ben);
  await putPolicy(app, { steps: [{ notify: ['person:anna'] }, { notify: ['person:ben'] }] });
  await fire(app, 'disk');
  await isAt(app, 1);
  now += 5 * minute;
  await waitForRequests(ben, 1);
  await fire(app, 'disk', { level: 'CRITICAL' });
  await isAt(app, 1);
  await waitForRequests(anna, 2);
  await waitForRequests(ben, 2);
  assert.deepEqual(messagesTo(anna), [`opened ${name}`, `raised ${name}`]);
  // The `raised` notification does not answer an escalation step, but the answer to the earlier step stays valid.
  await waitUntilPasses(async () => {
    const { notifications } = (await app.request<Timeline>('GET', '/api/incidents/1')).json;
    const one = notifications.find(({ destination }) => destination === 'ben/phone');
    assert.deepEqual([one?.last?.what, one?.next], ['raised', null]);
  });
  now += 5 * minute;
  await waitForRequests(ben, 3);
  assert.deepEqual(messagesTo(ben), [`opened ${name}`, `raised ${name}`, `reminder ${name}`]);
});

test('no step is taken while the incident is silenced; a step that became due follows when the silence ends', async (t) => {
  const [anna, ben] = [await startReceiver(t), await startReceiver(t)];
  let now = Date.now();
  const app = await startNotifier(t, [], {}, { features: withClock(() => new Date(now)) });
  await createPerson(app, 'anna', anna);
  await createPerson(app, 'ben', ben);
  await putPolicy(app, { steps: [{ notify: ['person:anna'] }, { notify: ['person:ben'] }] });
  const token = await adminToken(app);
  const silence = async (minutes: number) => {
    const body = {
      matchers: [{ name: 'source', value: 'backup', isRegex: false, isEqual: true }],
      comment: 'work',
      endsAt: new Date(now + minutes * minute).toISOString(),
    };
    const created = await app.request('POST', '/api/silences', { token, body });
    assert.equal(created.status, 201, created.text);
  };
  await silence(10);
  await fire(app, 'disk');
  await waitUntilPasses(async () => assert.equal((await readIncident(app)).escalation?.next?.dueAt, null));
  const { escalation } = await readIncident(app);
  assert.deepEqual([escalation?.policy, escalation?.step], ['ops', 0]);
  now += 10 * minute;
  await waitForRequests(anna, 1);
  await isAt(app, 1);
  await silence(60);
  now += 30 * minute;
  await waitUntilPasses(async () => assert.equal((await readIncident(app)).escalation?.next?.dueAt, null));
  assert.equal((await app.request('POST', '/api/incidents/1/escalate', { token, body: {} })).status, 409);
  now += 31 * minute;
  await waitForRequests(ben, 1);
  assert.deepEqual(stepsOf(await readIncident(app)), [
    [1, 1, 'person:anna'],
    [1, 2, 'person:ben'],
  ]);
});

test('a step that reaches nobody is skipped immediately, and the status reports the policy as a problem', async (t) => {
  const ben = await startReceiver(t);
  const app = await startNotifier(t, []);
  await createUser(app, 'without-ways');
  await createUser(app, 'deleted');
  await createPerson(app, 'ben', ben);
  const steps = [
    { notify: ['person:deleted'], wait: '1 hour' },
    { notify: ['person:without-ways'], wait: '1 hour' },
    { notify: ['person:ben'], wait: '1 hour' },
  ];
  await putPolicy(app, { steps, repeat: 100 });
  const token = await adminToken(app);
  assert.equal((await app.request('DELETE', '/api/users/deleted', { token })).status, 200);
  await fire(app, 'disk');
  await waitForRequests(ben, 1);
  assert.deepEqual(stepsOf(await readIncident(app)), [[1, 3, 'person:ben']]);
  const { json } = await app.request<{ unknown: string[] }>('GET', '/api/escalation-policies/ops');
  assert.deepEqual(json.unknown, ['person:deleted']);
  const status = await app.request<{ concerns: { text: string }[] }>('GET', '/api/status', { token });
  assert.ok(JSON.stringify(status.json).includes('1 escalation policy names a target that does not exist'));
});

test('a policy whose steps reach nobody waits until a shift begins', async (t) => {
  const anna = await startReceiver(t);
  let now = Date.parse('2026-02-02T02:00:00Z');
  const app = await startNotifier(t, [], {}, { features: withClock(() => new Date(now)) });
  await createPerson(app, 'anna', anna);
  const token = await adminToken(app);
  const handover = { every: '1 week', at: 'Mon 09:00' };
  const body = { timeZone: 'UTC', layers: [{ people: ['anna'], handover, hours: '08:00-18:00' }] };
  const created = await app.request('PUT', '/api/rotations/desk', { token, body });
  assert.ok(created.status < 300, created.text);
  await putPolicy(app, { steps: [{ notify: ['rotation:desk'], wait: '1 hour' }], repeat: 100 });
  await fire(app, 'disk');
  const read = async (): Promise<Shown> => {
    const { json } = await app.request<{ data: { id: string }[] }>('GET', '/api/incidents?q=disk');
    return (await app.request<Shown>('GET', `/api/incidents/${json.data[0]?.id}`)).json;
  };
  await waitUntilPasses(async () => {
    const { escalation } = await read();
    assert.deepEqual([escalation?.policy, escalation?.step, escalation?.next], ['ops', 0, null]);
  });
  now = Date.parse('2026-02-02T08:00:00Z');
  await waitUntilPasses(async () => assert.deepEqual(stepsOf(await read()), [[1, 1, 'person:anna']]));
  await waitUntil('anna is notified', () => anna.requests.some(({ body: text }) => text.includes('disk is broken')));
});

test('then: another policy follows after the last round', async (t) => {
  const [anna, ben] = [await startReceiver(t), await startReceiver(t)];
  let now = Date.now();
  const app = await startNotifier(t, [], {}, { features: withClock(() => new Date(now)) });
  await createPerson(app, 'anna', anna);
  await createPerson(app, 'ben', ben);
  await putPolicy(app, { steps: [{ notify: ['person:ben'] }] }, 'managers');
  await putPolicy(app, { steps: [{ notify: ['person:anna'], wait: '90 seconds' }], then: 'managers' });
  await fire(app, 'disk');
  await isAt(app, 1);
  assert.equal((await readIncident(app)).escalation?.next?.targets.join(), 'person:ben');
  now += 90_000;
  await waitForRequests(ben, 1);
  assert.equal((await readIncident(app)).escalation?.policy, 'managers');
});

test('with a policy, destinations that no policy names follow their own rules; without one, all do', async (t) => {
  const [anna, room, log] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)];
  const app = await startNotifier(t, [
    toIncidentDestination(room, { name: 'room' }),
    toIncidentDestination(log, { name: 'log' }),
  ]);
  await createPerson(app, 'anna', anna);
  const token = await adminToken(app);
  const steps = [{ notify: ['person:anna'], wait: '1 hour' }, { notify: ['destination:room'] }];
  await putPolicy(app, { steps });
  const rules = [{ source: 'BACK*', level: 'ERROR', labels: { team: 'db*' }, policy: 'ops' }];
  assert.equal((await app.request('PUT', '/api/escalation-routing', { token, body: { rules } })).status, 200);
  await fire(app, 'disk', { labels: { team: 'db-1' } });
  await fire(app, 'net', { source: 'net', labels: { team: 'db-1' } });
  await fire(app, 'warn', { level: 'WARNING', labels: { team: 'db-1' } });
  await fire(app, 'other', { labels: { team: 'web' } });
  await waitForRequests(anna, 1);
  await waitForRequests(log, 4);
  await waitForRequests(room, 3);
  assert.deepEqual(messagesTo(anna), [`opened ${name}`]);
  assert.deepEqual(
    messagesTo(room).toSorted(),
    ['#2 net', '#3 warn', '#4 other'].map((one) => `opened ${one} is broken`),
  );
  assert.equal((await readIncident(app, 2)).escalation, null);
});

test('incidents from before the first routing keep the rules of destinations until their level rises', async (t) => {
  const anna = await startReceiver(t);
  const app = await startNotifier(t, []);
  await createPerson(app, 'anna', anna);
  await fire(app, 'disk');
  await putPolicy(app, { steps: [{ notify: ['person:anna'] }] });
  await fire(app, 'net');
  await waitForRequests(anna, 1);
  assert.equal((await readIncident(app, 1)).escalation, null);
  await fire(app, 'disk', { level: 'CRITICAL' });
  await waitForRequests(anna, 2);
  assert.deepEqual(messagesTo(anna), ['opened #2 net is broken', 'opened #1 disk is broken']);
});

test('a contact method with a delay is notified later, unless the incident is acknowledged first', async (t) => {
  const [phone, mail] = [await startReceiver(t), await startReceiver(t)];
  let now = Date.now();
  const app = await startNotifier(t, [], {}, { features: withClock(() => new Date(now)) });
  const token = await createPerson(app, 'anna', phone);
  const way = { type: 'webhook', url: `${mail.url}/mail`, groupSeconds: 0, delay: '5 minutes' };
  assert.equal((await app.request('PUT', '/api/people/me/ways/mail', { token, body: way })).status, 201);
  await putPolicy(app, { steps: [{ notify: ['person:anna'], wait: '1 hour' }] });
  await fire(app, 'disk');
  await fire(app, 'net');
  await waitForRequests(phone, 2);
  await act(app, 2, 'acknowledge');
  await waitUntil('the phone gets the acknowledgement', () =>
    messagesTo(phone).includes('acknowledged #2 net is broken'),
  );
  now += 5 * minute;
  await waitForRequests(mail, 1);
  await act(app, 1, 'resolve');
  await waitForRequests(mail, 2);
  assert.deepEqual(messagesTo(mail), [`opened ${name}`, `resolved ${name}`]);
});

test('quiet hours delay the notifications of a person, except for critical incidents', async (t) => {
  const anna = await startReceiver(t);
  let now = Date.parse('2026-01-31T23:00:00Z');
  const app = await startNotifier(t, [], {}, { features: withClock(() => new Date(now)) });
  const token = await adminToken(app);
  const { url } = anna;
  const way = { type: 'webhook', url: `${url}/a`, groupSeconds: 0 };
  assert.equal((await app.request('PUT', '/api/people/me/ways/phone', { token, body: way })).status, 201);
  const person = { timeZone: 'UTC', quietHours: '22:00-07:00' };
  const put = await app.request('PUT', '/api/people/me', { token, body: person });
  assert.equal(put.status, 200, put.text);
  await putPolicy(app, { steps: [{ notify: ['person:admin'], wait: '12 hours' }] });
  await fire(app, 'disk');
  await fire(app, 'net', { level: 'CRITICAL' });
  await waitForRequests(anna, 1);
  assert.deepEqual(messagesTo(anna), ['opened #2 net is broken']);
  now = Date.parse('2026-02-01T07:00:00Z');
  await waitForRequests(anna, 2);
});

test('people on call in a rotation are notified without a policy, and by rotation:NAME with one', async (t) => {
  const [anna, ben, carl] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)];
  const app = await startNotifier(t, []);
  for (const [name, receiver] of [
    ['anna', anna],
    ['ben', ben],
    ['carl', carl],
  ] as const) {
    await createPerson(app, name, receiver);
  }
  const token = await adminToken(app);
  const put = async (people: string[]): Promise<void> => {
    const layers = [{ people, handover: { every: '1 week', at: 'Mon 09:00' } }];
    const { status, text } = await app.request('PUT', '/api/rotations/desk', { token, body: { layers } });
    assert.ok(status < 300, text);
  };
  await put(['anna']);
  await fire(app, 'disk');
  await waitForRequests(anna, 1);
  await putPolicy(app, { steps: [{ notify: ['rotation:desk'], wait: '1 hour' }] });
  await put(['ben']);
  await fire(app, 'net');
  await waitUntil('ben is notified', () => messagesTo(ben).includes('opened #2 net is broken'));
  assert.deepEqual(stepsOf(await readIncident(app, 2)), [[1, 1, 'person:ben']]);
  assert.deepEqual([messagesTo(anna), messagesTo(carl)], [[`opened ${name}`], []]);
});

test('without a policy, a rise in level notifies only people on call, and everybody who was notified gets the end', async (t) => {
  const [anna, ben] = [await startReceiver(t), await startReceiver(t)];
  const app = await startNotifier(t, []);
  await createPerson(app, 'anna', anna);
  await createPerson(app, 'ben', ben);
  const token = await adminToken(app);
  const put = (person: string) => {
    const layers = [{ people: [person], handover: { every: '1 week', at: 'Mon 09:00' } }];
    return app.request('PUT', '/api/rotations/desk', { token, body: { layers } });
  };
  await put('anna');
  await fire(app, 'disk');
  await waitForRequests(anna, 1);
  await put('ben');
  await waitForRequests(ben, 1);
  await fire(app, 'disk', { level: 'CRITICAL' });
  await waitForRequests(ben, 2);
  const { notifications } = (await app.request<Timeline>('GET', '/api/incidents/1')).json;
  assert.equal(notifications.find(({ destination }) => destination === 'anna/phone')?.next?.waitsFor, 'offDuty');
  await act(app, 1, 'resolve');
  await waitUntil('anna gets the end', () => messagesTo(anna).at(-1) === `resolved ${name}`);
  await waitUntil('ben gets the end', () => messagesTo(ben).at(-1) === `resolved ${name}`);
  assert.deepEqual(messagesTo(anna), [`opened ${name}`, `resolved ${name}`]);
  assert.deepEqual(messagesTo(ben), [`opened ${name}`, `raised ${name}`, `resolved ${name}`]);
});

test('10,000 simultaneous incidents follow their policy, and each step takes few messages', async (t) => {
  const [anna, ben] = [await startReceiver(t), await startReceiver(t)];
  let now = Date.now();
  const app = await startNotifier(t, [], { maxEventLoopDelay: 0 }, { features: withClock(() => new Date(now)) });
  await createPerson(app, 'anna', anna, { groupSeconds: 10 });
  await createPerson(app, 'ben', ben, { groupSeconds: 10 });
  await putPolicy(app, { steps: [{ notify: ['person:anna'], wait: '1 hour' }, { notify: ['person:ben'] }] });
  const [count, batch] = [10_000, 1000];
  const begun = performance.now();
  for (let from = 0; from < count; from += batch) {
    const body = Array.from({ length: batch }, (_, index) => {
      return { labels: { alertname: `alert ${from + index}`, severity: 'error' } };
    });
    assert.equal((await app.request('POST', '/api/v2/alerts', { body })).status, 200);
  }
  const isTaken = (step: number) =>
    waitUntil(
      `step ${step} is taken`,
      async () => {
        const all = await Promise.all([1, count / 2, count].map((number) => readIncident(app, number)));
        return all.every(({ escalation }) => escalation?.step === step);
      },
      60_000,
    );
  await isTaken(1);
  t.diagnostic(`first steps after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  const areAll = (receiver: Receiver) => () => {
    // Time moves on, for incidents that are still being collected.
    now += 1000;
    return new Set(messagesTo(receiver)).size === count;
  };
  await waitUntil('anna is notified of all', areAll(anna), 60_000);
  now += 60 * minute;
  const later = performance.now();
  await isTaken(2);
  t.diagnostic(`second steps after ${((performance.now() - later) / 1000).toFixed(1)} s`);
  await waitUntil('ben is notified of all', areAll(ben), 60_000);
  assert.ok(anna.requests.length < 200, `${anna.requests.length} messages`);
});
