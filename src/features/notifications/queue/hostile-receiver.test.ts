import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  adminToken,
  readState,
  retryAll,
  startOutbox,
  toDestination,
  waitUntilIdle,
} from '../../../../test/support/outbox.ts';
import { createRandom, type Random } from '../../../../test/support/random.ts';
import { type Behaviour, startReceiver } from '../../../../test/support/receiver.ts';
import { waitUntil } from '../../../../test/support/wait.ts';

const refusals = [400, 413, 414, 422, 431];
const statuses: [number, ...number[]] = [
  301, 304, 307, 401, 403, 404, 405, 408, 410, 418, 425, 429, 451, 500, 501, 502, 503, 504, 599, 999,
];
const pauses: [string, ...string[]] = ['0', '-1', 'soon', '', '0.5', 'Sat, 31 Jan 2026 08:30:00 GMT'];

/** Responds with nonsensical statuses, headers and bytes, or not at all. */
const createBehaviour =
  ({ next, pick }: Random): Behaviour =>
  (response, { headers }) => {
    const chance = next();
    if (chance < 0.4) response.writeHead(pick([200, 201, 202, 204, 299])).end();
    else if (chance < 0.7) response.writeHead(pick(statuses), { 'retry-after': pick(pauses), location: '/' }).end('no');
    else if (chance < 0.75) response.destroy();
    else if (chance < 0.8) response.socket?.end('HTTP/1.1 abc\r\n\r\n');
    else if (chance < 0.85) response.socket?.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(50_000)}`);
    else if (chance < 0.9)
      response.writeHead(pick(statuses), { 'content-length': 10 }).write('123', () => response.destroy());
    else setTimeout(() => response.writeHead(pick(statuses)).end(String(headers['webhook-id'])), 20);
  };

const minutes = (number: number): string => new Date(Date.UTC(2026, 0, 1, 0, number)).toISOString();

const toBody = (number: number) => ({
  version: '4',
  status: 'firing',
  receiver: 'x',
  groupLabels: {},
  commonLabels: {},
  commonAnnotations: {},
  alerts: [
    {
      status: 'firing',
      fingerprint: `f${number % 3}`,
      startsAt: minutes(number),
      labels: { alertname: 'Disk', severity: number % 5 === 0 ? 'critical' : 'warning' },
      annotations: { summary: `${number}` },
    },
  ],
});

for (const concurrency of [1, 4]) {
  test(`with any responses to ${concurrency} requests at a time, every alert arrives, and alerts with one fingerprint arrive in order`, async (t) => {
    const random = createRandom();
    const accepted: number[] = [];
    const behave = createBehaviour(random);
    const receiver = await startReceiver(t, (response, request, index) => {
      const number = Number(JSON.parse(request.body).message);
      response.on('finish', () => {
        const { statusCode } = response;
        if (statusCode >= 200 && statusCode < 300 && response.writableFinished) accepted.push(number);
      });
      behave(response, request, index);
    });
    const retrySeconds = Array(100).fill(0.01);
    const app = await startOutbox(t, [toDestination(receiver, { concurrency, retrySeconds })]);
    const count = 30;
    for (let number = 0; number < count; number += 1) {
      const { status } = await app.request('POST', '/api/alert/alertmanager', { body: toBody(number) });
      assert.equal(status, 200);
    }
    await waitUntil('most alerts have arrived', async () => {
      // A rejected destination would wait for a second each time.
      await retryAll(app);
      return new Set(accepted).size > count / 2;
    });
    receiver.behave((response, { body }) => {
      accepted.push(Number(JSON.parse(body).message));
      response.end();
    });
    await retryAll(app);
    await waitUntilIdle(app);
    const first = [...new Set(accepted)];
    assert.equal(first.length, count);
    for (const remainder of [0, 1, 2]) {
      const numbers = first.filter((number) => number % 3 === remainder);
      assert.deepEqual(
        numbers,
        numbers.toSorted((one, other) => one - other),
      );
    }
    const { parked, dropped, lagAlerts } = await readState(app);
    assert.deepEqual({ parked, dropped, lagAlerts }, { parked: 0, dropped: 0, lagAlerts: 0 });
  });
}

test('an alert is given up only after statuses that concern this alert alone', async (t) => {
  const asked = [...refusals, ...statuses];
  const receiver = await startReceiver(t, (response, { body }) => {
    response.writeHead(Number(JSON.parse(body).message)).end();
  });
  const app = await startOutbox(t, [toDestination(receiver, { retrySeconds: Array(99).fill(3600) })]);
  for (const status of asked) {
    const { status: stored } = await app.request('POST', '/api/alert', { body: { message: `${status}` } });
    assert.equal(stored, 200);
  }
  const tried = () => new Set(receiver.requests.map(({ body }) => JSON.parse(body).message));
  const { json } = await app.request<{ data: { waitingAlerts: { id: string }[] }[] }>('GET', '/api/deliveries', {
    token: await adminToken(app),
  });
  for (const { id } of json.data[0]?.waitingAlerts ?? []) {
    await app.request('POST', `/api/deliveries/hook/${id}/retry`, { token: await adminToken(app) });
  }
  await waitUntil('each alert was tried', () => tried().size === asked.length);
  await waitUntil('the refused alerts are given up', async () => (await readState(app)).parked === refusals.length);
  const { parkedAlerts, lagAlerts } = await readState(app);
  assert.deepEqual(parkedAlerts.map(({ message }) => Number(message)).sort(), refusals);
  assert.equal(lagAlerts, statuses.length);
});
