import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp } from '../../../../test/support/app.ts';
import { startMailServer } from '../../../../test/support/mail-server.ts';
import {
  fire,
  messagesTo,
  readIncident,
  startNotifier,
  toIncidentDestination,
} from '../../../../test/support/notifications.ts';
import { adminToken, readState, waitForRequests } from '../../../../test/support/outbox.ts';
import { createPerson, createUser, putPolicy } from '../../../../test/support/people.ts';
import { answer, startReceiver } from '../../../../test/support/receiver.ts';
import { waitUntil, waitUntilPasses } from '../../../../test/support/wait.ts';

interface Way {
  name: string;
  settings: Record<string, unknown>;
  hidden: string[];
  provenAt: string | null;
  problem: string | null;
  version: number;
}

const path = '/api/people/me/ways/phone';

test('a Reader creates, tests, confirms, changes and deletes a contact method', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startApp(t);
  const token = await createUser(app, 'anna');
  const body = { type: 'ntfy', url: `${receiver.url}/topic-anna`, token: 'tk_secret', delay: '5 minutes' };
  const created = await app.request<Way>('PUT', path, { token, body });
  assert.equal(created.status, 201, created.text);
  assert.deepEqual(created.json.settings, { type: 'ntfy', delay: '5 minutes', url: `${receiver.url}/***` });
  assert.deepEqual([created.json.hidden, created.json.provenAt, created.json.problem], [['url', 'token'], null, null]);
  assert.ok(!created.text.includes('secret') && !created.text.includes('topic-anna'));
  const tested = await app.request('POST', `${path}/test`, { token });
  assert.deepEqual([tested.status, tested.json], [200, { delivered: true, response: '200' }]);
  const [, code = ''] = /code (\d{6})/.exec(receiver.requests[0]?.body ?? '') ?? [];
  const wrong = await app.request('POST', `${path}/confirm`, {
    token,
    body: { code: code === '111111' ? '2' : '111111' },
  });
  assert.equal(wrong.status, 400);
  const confirmed = await app.request<Way>('POST', `${path}/confirm`, {
    token,
    body: { code: `${code.slice(0, 3)} ${code.slice(3)}` },
  });
  assert.equal(confirmed.status, 200, confirmed.text);
  assert.ok(confirmed.json.provenAt);
  // A change of the delay keeps the proof and the secrets. A new address needs a new test.
  const kept = await app.request<Way>('PUT', path, { token, body: { type: 'ntfy', url: `${receiver.url}/***` } });
  assert.deepEqual([kept.json.provenAt, kept.json.hidden], [confirmed.json.provenAt, ['url', 'token']]);
  const other = await app.request<Way>('PUT', path, { token, body: { ...body, url: `${receiver.url}/other` } });
  assert.equal(other.json.provenAt, null);
  const stale = await app.request('POST', `${path}/confirm`, { token, body: { code } });
  assert.equal(stale.status, 400);
  const outdated = await app.request('PUT', path, {
    token,
    body,
    headers: { 'if-match': `"${created.json.version}"` },
  });
  assert.equal(outdated.status, 412);
  assert.equal((await app.request('DELETE', path, { token })).status, 200);
  assert.equal((await app.request('GET', path, { token })).status, 404);
});

test('only an Admin sees and changes the contact methods of other people', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startApp(t);
  await createPerson(app, 'anna', receiver);
  const ben = await createUser(app, 'ben');
  const body = { type: 'webhook', url: `${receiver.url}/x` };
  for (const [method, of] of [
    ['GET', '/api/people/anna'],
    ['PUT', '/api/people/anna'],
    ['PUT', '/api/people/anna/ways/phone'],
    ['DELETE', '/api/people/anna/ways/phone'],
    ['POST', '/api/people/anna/ways/phone/test'],
  ] as const) {
    const { status } = await app.request(method, of, {
      token: ben,
      ...(method === 'PUT' && { body: of.includes('ways') ? body : {} }),
    });
    assert.equal(status, 403, `${method} ${of}`);
  }
  const token = await adminToken(app);
  const read = await app.request<{ ways: Way[] }>('GET', '/api/people/anna', { token });
  assert.deepEqual(
    read.json.ways.map(({ name }) => name),
    ['phone'],
  );
  assert.equal((await app.request('PUT', '/api/people/anna/ways/mail', { token, body })).status, 201);
  assert.equal((await app.request('PUT', '/api/people/nobody/ways/mail', { token, body })).status, 404);
  const list = await app.request<{ data: object[] }>('GET', '/api/people', { token: ben });
  assert.ok(list.json.data.some((one) => JSON.stringify(one) === '{"name":"anna","ways":2,"proven":0}'));
});

test('unusable contact methods are refused, and change nothing', async (t) => {
  const app = await startApp(t, { settings: { watchTargets: ['192.0.2.0/24'] } });
  const token = await createUser(app, 'anna');
  const webhook = { type: 'webhook', url: 'http://192.0.2.1/x' };
  for (const [body, reason] of [
    [{}, /type/],
    [{ type: 'webhook' }, /url is required/],
    [{ ...webhook, delay: '5' }, /delay must be a duration such as/],
    [{ ...webhook, delay: '25 hours' }, /at most 24 hours/],
    [{ ...webhook, url: 'http://127.0.0.1/' }, /127\.0\.0\.1 is not allowed by watchTargets/],
    [{ ...webhook, secretFile: '/etc/shadow' }, /secretFile is unknown/],
    [{ ...webhook, headers: { a: { file: '/etc/shadow' } } }, /headers/],
    [{ ...webhook, notify: 'alerts' }, /notify is unknown/],
    [{ type: 'email', to: ['anna@example.org'] }, /no destination of type email/],
    [{ type: 'pigeon', url: 'http://192.0.2.1' }, /type must be one of/],
  ] as const) {
    const { status, json } = await app.request('PUT', path, { token, body });
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(String(json['error']), reason);
  }
  for (const body of [
    { timeZone: 'Mars/Base' },
    { quietHours: 'at night' },
    { quietHours: '00:00-24:00' },
    { quietExcept: ['LOUD'] },
  ]) {
    assert.equal((await app.request('PUT', '/api/people/me', { token, body })).status, 400, JSON.stringify(body));
  }
  assert.equal((await app.request('PUT', '/api/people/me/ways/a%2Fb', { token, body: webhook })).status, 400);
  for (let count = 0; count < 10; count += 1) {
    assert.equal((await app.request('PUT', `/api/people/me/ways/w${count}`, { token, body: webhook })).status, 201);
  }
  assert.equal((await app.request('PUT', '/api/people/me/ways/w10', { token, body: webhook })).status, 409);
});

test('members of responses in a body are not stored', async (t) => {
  const app = await startApp(t);
  const token = await createUser(app, 'anna');
  for (const provenAt of [1, '2026-01-31T09:30:00Z']) {
    const body = { type: 'webhook', url: 'http://127.0.0.1:9/', provenAt, settings: { a: 1 } };
    const { json } = await app.request<Way>('PUT', path, { token, body });
    assert.deepEqual([json.provenAt, Object.keys(json.settings)], [null, ['type', 'url']]);
  }
  const list = await app.request<{ data: object[] }>('GET', '/api/people', { token });
  assert.ok(list.json.data.some((one) => JSON.stringify(one) === '{"name":"anna","ways":1,"proven":0}'));
});

test('an email contact method without a server uses the server of a destination', async (t) => {
  const server = await startMailServer(t);
  const mail = { name: 'mail', type: 'email', url: server.url, from: 'signalbox@example.org', to: ['ops@example.org'] };
  const app = await startApp(t, { settings: { destinations: [mail] } });
  const token = await createUser(app, 'anna');
  // The way can change neither the login nor the encryption of the server.
  const body = { type: 'email', to: ['anna@example.org'], tls: 'required', user: 'anna', secret: 'x', from: 'x@y.z' };
  const created = await app.request<Way>('PUT', path, { token, body });
  assert.deepEqual([created.status, created.json.settings['url'], created.json.problem], [201, null, null]);
  const { json } = await app.request('POST', `${path}/test`, { token });
  assert.equal(json['delivered'], true);
  assert.deepEqual([server.mails[0]?.from, server.mails[0]?.to], ['signalbox@example.org', ['anna@example.org']]);
});

test('an email contact method obeys watchTargets, also with the server of a destination that an Admin created', async (t) => {
  const server = await startMailServer(t);
  const watchTargets = ['192.0.2.0/24'];
  const token = await adminToken(await startApp(t));
  const before = await startApp(t);
  const mail = { type: 'email', url: server.url, from: 'signalbox@example.org', to: ['ops@example.org'] };
  const put = await before.request('PUT', '/api/destinations/mail', { token, body: { ...mail, notify: 'incidents' } });
  assert.ok(put.status < 300, put.text);
  const own = { type: 'email', to: ['reader@example.org'] };
  const reader = await before.login('reader');
  assert.equal((await before.request('PUT', path, { token: reader, body: own })).status, 201);
  await before.close();
  const app = await startApp(t, { settings: { watchTargets, dataDir: join(before.folder, 'data') } });
  const tested = await app.request('POST', `${path}/test`, { token: reader });
  assert.equal(tested.json['delivered'], false, tested.text);
  assert.match(tested.text, /127\.0\.0\.1 is not allowed by watchTargets/);
  const body = { ...mail, to: ['reader@example.org'] };
  const refused = await app.request('PUT', '/api/people/me/ways/mail', { token: reader, body });
  assert.match(refused.text, /127\.0\.0\.1 is not allowed by watchTargets: ask an administrator/);
  assert.deepEqual([refused.status, server.mails.length], [400, 0]);
});

test('a link in a message to a contact method acknowledges as the person', async (t) => {
  const anna = await startReceiver(t);
  const app = await startNotifier(t, [], { publicUrl: 'https://signalbox.example.org' });
  await createPerson(app, 'anna', anna);
  await putPolicy(app, { steps: [{ notify: ['person:anna'] }] });
  await fire(app, 'disk');
  await waitForRequests(anna, 1);
  const [, token] = /api\/acknowledge\/(ack_[\w-]+)/.exec(anna.requests[0]?.body ?? '') ?? [];
  assert.equal((await app.request('POST', `/api/acknowledge/${token}`, {})).status, 200);
  const { json } = await app.request('GET', '/api/incidents/1');
  assert.equal(json['acknowledgedBy'], 'anna');
});

test('a user who is created again gets no contact methods, quiet hours and calendar addresses of the former user', async (t) => {
  const app = await startApp(t);
  const token = await createUser(app, 'anna');
  const admin = await adminToken(app);
  const layers = [{ people: ['reader'], handover: { every: '1 week' } }];
  await app.request('PUT', '/api/rotations/ops', { token: admin, body: { layers } });
  const requests = [
    ['PUT', path, { type: 'webhook', url: 'http://127.0.0.1:9/' }],
    ['PUT', '/api/people/me', { quietHours: '22:00-07:00' }],
    ['PUT', '/api/people/me/absences', { url: 'https://127.0.0.1:9/a.ics' }],
    ['POST', '/api/people/me/calendar'],
    ['POST', '/api/rotations/ops/calendar-addresses'],
  ] as const;
  const responses = [];
  for (const [method, of, body] of requests) {
    const response = await app.request(method, of, { token, ...(body && { body }) });
    assert.ok(response.status < 300, response.text);
    responses.push(response.json);
  }
  assert.equal((await app.request('DELETE', '/api/users/anna', { token: admin })).status, 200);
  assert.equal((await app.request('GET', '/api/people/anna', { token: admin })).status, 404);
  const again = await createUser(app, 'anna');
  const { json } = await app.request('GET', '/api/people/me', { token: again });
  assert.deepEqual(json, { name: 'anna', ways: [], updatedBy: null, updatedAt: null, version: null });
  assert.equal((await app.request('GET', '/api/people/me/absences', { token: again })).status, 404);
  assert.equal((await app.request('GET', '/api/people/me/calendar', { token: again })).json['count'], 0);
  for (const { path: secret } of responses.slice(-2)) {
    assert.equal((await app.request('GET', String(secret))).status, 404);
  }
  const put = await app.request('PUT', path, {
    token: again,
    body: { type: 'webhook', url: 'http://127.0.0.1:9/***' },
  });
  assert.equal(put.status, 400, 'nothing is left whose secret could be used');
});

test('contact methods of a deleted user are not used', async (t) => {
  const [anna, room] = [await startReceiver(t), await startReceiver(t)];
  const app = await startNotifier(t, [toIncidentDestination(room, { name: 'room' })]);
  await createPerson(app, 'anna', anna);
  const steps = [{ notify: ['person:anna'], wait: '1 hour' }, { notify: ['destination:room'] }];
  await putPolicy(app, { steps });
  const token = await adminToken(app);
  assert.equal((await app.request('DELETE', '/api/users/anna', { token })).status, 200);
  await fire(app, 'disk');
  await waitForRequests(room, 1);
  assert.deepEqual(messagesTo(anna), []);
});

test('a contact method whose receiver fails is listed among the deliveries, and is retried', async (t) => {
  const anna = await startReceiver(t, answer(503));
  const app = await startNotifier(t, []);
  await createPerson(app, 'anna', anna);
  await putPolicy(app, { steps: [{ notify: ['person:anna'] }] });
  await fire(app, 'disk');
  await waitForRequests(anna, 1);
  await waitUntil('the failure is shown', async () => (await readState(app, 'anna/phone')).lastError !== null);
  anna.behave(answer(200));
  const token = await adminToken(app);
  const { status } = await app.request('POST', '/api/deliveries/anna%2Fphone/retry', { token });
  assert.equal(status, 200);
  await waitUntilPasses(async () => {
    const { notifications } = await readIncident(app, 1);
    assert.equal(notifications.find(({ destination }) => destination === 'anna/phone')?.last?.what, 'opened');
  });
});
