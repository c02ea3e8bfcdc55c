import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { disk, readRecords, sendAlert } from '../../../../test/support/alerts.ts';
import {
  messagesOf,
  readState,
  retryAll,
  startOutbox,
  toDestination,
  waitForRequests,
  waitUntilIdle,
} from '../../../../test/support/outbox.ts';
import { answer, startReceiver } from '../../../../test/support/receiver.ts';
import { waitUntil } from '../../../../test/support/wait.ts';

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
  ['429', answer(429), 'the receiver responded 429; 3 attempts'],
  ['a broken connection', (response) => response.destroy(), 'the connection was closed; 3 attempts'],
] satisfies [string, Parameters<typeof startReceiver>[1], string][]) {
  test(`an alert that is answered with ${what} is retried, then given up, and the next alert is delivered`, async (t) => {
    const receiver = await startReceiver(t, behaviour);
    const app = await startOutbox(t, [toDestination(receiver)]);
    const id = await sendAlert(app, disk);
    await waitUntil('the alert is given up', async () => (await readState(app)).parked === 1);
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

for (const status of [400, 413, 414, 422, 431]) {
  test(`an alert that is answered ${status} is given up at once`, async (t) => {
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

test('a receiver that fails for all alerts gets them in the order of the log when it works again', async (t) => {
  const receiver = await startReceiver(t, answer(500));
  const app = await startOutbox(t, [toDestination(receiver, { retrySeconds: Array(99).fill(0.05) })]);
  for (const message of ['1', '2', '3']) await sendAlert(app, { message });
  await waitForRequests(receiver, 5);
  const { state, lagAlerts, lagSeconds } = await readState(app);
  assert.ok(['waiting', 'delivering'].includes(state));
  assert.equal(lagAlerts, 3);
  assert.ok(lagSeconds > 0 && lagSeconds < 60);
  const failed = receiver.requests.length;
  receiver.behave(answer(204));
  await waitUntilIdle(app);
  const delivered = messagesOf(receiver).slice(-3);
  assert.deepEqual(delivered.toSorted(), ['1', '2', '3']);
  assert.ok(receiver.requests.length >= failed + 3);
});

test('an alert that always fails does not hold back other alerts', async (t) => {
  const receiver = await startReceiver(t, (response, { body }) => {
    response.writeHead(JSON.parse(body).message === 'poison' ? 500 : 200).end();
  });
  const app = await startOutbox(t, [toDestination(receiver, { retrySeconds: Array(9).fill(3600) })]);
  await sendAlert(app, { message: 'poison' });
  const others = Array.from({ length: 20 }, (_, n) => `${n}`);
  for (const message of others) await sendAlert(app, { message });
  await waitUntil('only one waits', async () => (await readState(app)).lagAlerts === 1);
  assert.deepEqual(
    messagesOf(receiver).filter((message) => message !== 'poison'),
    others,
  );
  const { state, waitingAlerts } = await readState(app);
  assert.deepEqual([state, waitingAlerts.map(({ message }) => message)], ['waiting', ['poison']]);
  // The poison alert is tried early when the receiver recovers, but only once.
  assert.ok(messagesOf(receiver).filter((message) => message === 'poison').length <= 2);
});

test('after a receiver recovers, the newest critical alert is sent first, and no alert before an older one with the same fingerprint', async (t) => {
  const receiver = await startReceiver(t);
  const port = Number(new URL(receiver.url).port);
  await receiver.close();
  const app = await startOutbox(t, [toDestination(receiver, { retrySeconds: [1, 3600, 3600] })]);
  const disk = (status: 'firing' | 'resolved') => ({
    version: '4',
    status,
    receiver: 'x',
    groupLabels: {},
    commonLabels: {},
    commonAnnotations: {},
    alerts: [
      {
        status,
        fingerprint: 'f1',
        labels: { alertname: 'Disk', severity: 'critical' },
        annotations: { summary: 'disk' },
        startsAt: '2026-01-31T08:30:00Z',
      },
    ],
  });
  const push = async (body: object) =>
    assert.equal((await app.request('POST', '/api/alert/alertmanager', { body })).status, 200);
  await sendAlert(app, { level: 'ERROR', message: 'old' });
  await push(disk('firing'));
  await sendAlert(app, { level: 'INFO', message: 'newer' });
  await push(disk('resolved'));
  await sendAlert(app, { level: 'CRITICAL', message: 'newest' });
  await waitUntil('the alert waits', async () => (await readState(app)).state === 'waiting');
  const again = await startReceiver(t, answer(200), port);
  await waitUntilIdle(app);
  assert.deepEqual(messagesOf(again), ['newest', 'disk', 'old', 'newer', 'Resolved: disk']);
});

test('with the default backoff, a receiver that was briefly unreachable gets its alerts within seconds', async (t) => {
  const receiver = await startReceiver(t);
  const port = Number(new URL(receiver.url).port);
  await receiver.close();
  const { retrySeconds: _, ...usual } = toDestination(receiver);
  const app = await startOutbox(t, [usual]);
  await sendAlert(app, { message: '1' });
  await waitUntil('two attempts fail', async () => ((await readState(app)).waitingAlerts[0]?.attempts ?? 0) >= 2);
  const again = await startReceiver(t, answer(200), port);
  const begun = performance.now();
  await waitUntilIdle(app);
  assert.deepEqual(messagesOf(again), ['1']);
  assert.ok(performance.now() - begun < 10_000);
});

test('an alert is given up after giveUpHours, with the alerts that waited behind it', async (t) => {
  const receiver = await startReceiver(t);
  await receiver.close();
  const { retrySeconds: _, ...usual } = toDestination(receiver, { giveUpHours: 0.0005 });
  const app = await startOutbox(t, [usual]);
  const ids = [await sendAlert(app, disk), await sendAlert(app, disk)];
  await waitUntil('both alerts are given up', async () => (await readState(app)).parked === 2);
  const { parkedAlerts, lagAlerts, state, failingSince } = await readState(app);
  assert.deepEqual(
    parkedAlerts.map(({ id, reason, severity, source, message }) => [id, reason, severity, source, message]),
    ids.map((id) => [id, 'the connection was refused; given up after 0.0005 h', 'ERROR', disk.source, disk.message]),
  );
  assert.deepEqual([lagAlerts, state], [0, 'failing']);
  assert.ok(failingSince);
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

for (const status of [301, 401, 403, 404, 405, 410, 451]) {
  test(`a destination that is answered ${status} is failing: its alerts wait, and are delivered once it works`, async (t) => {
    const receiver = await startReceiver(t, answer(status, { location: '/elsewhere' }));
    const app = await startOutbox(t, [toDestination(receiver)]);
    await sendAlert(app, { message: '1' });
    await waitUntil('the destination is failing', async () => (await readState(app)).state === 'failing');
    await sendAlert(app, { message: '2' });
    await waitForRequests(receiver, 2);
    const { failingSince, lastError, lagAlerts, parked, nextAttempt } = await readState(app);
    assert.ok(Date.parse(failingSince ?? '') <= Date.now());
    assert.equal(lastError?.reason, `the receiver responded ${status}`);
    assert.deepEqual([lagAlerts, parked], [2, 0]);
    assert.ok(nextAttempt);
    const failed = receiver.requests.length;
    receiver.behave(answer(200));
    await waitUntilIdle(app);
    assert.deepEqual(messagesOf(receiver).slice(failed).sort(), ['1', '2']);
    assert.equal((await readState(app)).failingSince, null);
  });
}

const answerPoison: Parameters<typeof startReceiver>[1] = (response, { body }) => {
  response.writeHead(body.includes('poison') ? 403 : 200).end();
};

test('a single rejected alert delays no other alerts, and the destination does not count as failing', async (t) => {
  const receiver = await startReceiver(t, answerPoison);
  const { retrySeconds: _, ...usual } = toDestination(receiver);
  const app = await startOutbox(t, [usual]);
  for (const message of ['poison 1', '1', '2', '3']) await sendAlert(app, { message });
  await waitUntil('only one waits', async () => (await readState(app)).lagAlerts === 1);
  const { state, waitingAlerts, parked } = await readState(app);
  assert.deepEqual([state, waitingAlerts.map(({ message }) => message), parked], ['waiting', ['poison 1'], 0]);
  const delivered = () => messagesOf(receiver).filter((message) => !String(message).includes('poison'));
  assert.deepEqual(delivered(), ['1', '2', '3']);
  // A second poison alert arrives while the first one waits.
  for (const message of ['poison 2', '4', '5']) await sendAlert(app, { message });
  await waitUntil('two wait', async () => (await readState(app)).lagAlerts === 2);
  assert.deepEqual(delivered(), ['1', '2', '3', '4', '5']);
  assert.ok(receiver.requests.length <= 9);
  receiver.behave(answer(200));
  await retryAll(app);
  await waitUntilIdle(app);
  assert.deepEqual(messagesOf(receiver).slice(-2), ['poison 1', 'poison 2']);
});

test('a single rejected alert is given up when its retries end, and no other alert is given up', async (t) => {
  const receiver = await startReceiver(t, answerPoison);
  const app = await startOutbox(t, [toDestination(receiver, { giveUpHours: 0.0005 })]);
  await sendAlert(app, { message: 'poison' });
  let sent = 0;
  await waitUntil('the alert is given up', async () => {
    sent += 1;
    await sendAlert(app, { message: `${sent}` });
    return (await readState(app)).parked === 1;
  });
  await waitUntilIdle(app);
  const { parkedAlerts, failingSince } = await readState(app);
  const [{ message, reason } = assert.fail()] = parkedAlerts;
  assert.deepEqual(
    [parkedAlerts.length, message, reason, failingSince],
    [1, 'poison', 'the receiver responded 403; given up after 0.0005 h', null],
  );
  assert.equal(new Set(messagesOf(receiver)).size, sent + 1);
});

test('with the default backoff, a failing destination is tried about once a minute', async (t) => {
  const receiver = await startReceiver(t, answer(404));
  const { retrySeconds: _, ...usual } = toDestination(receiver);
  const app = await startOutbox(t, [usual]);
  for (const message of ['1', '2', '3']) await sendAlert(app, { message });
  await waitUntil(
    'two were tried',
    async () => receiver.requests.length === 2 && (await readState(app)).nextAttempt !== null,
  );
  const { nextAttempt, state } = await readState(app);
  assert.equal(state, 'failing');
  const wait = Date.parse(nextAttempt ?? '') - Date.now();
  assert.ok(wait > 50_000 && wait <= 66_000, `${wait} ms`);
  // The second alert shows whether only the first alert is rejected.
  assert.equal(receiver.requests.length, 2);
});

test('a restart tries immediately, whenever the next attempt was due, and still reports the destination as failing', async (t) => {
  const receiver = await startReceiver(t, answer(410));
  const { retrySeconds: _, ...usual } = toDestination(receiver);
  const app = await startOutbox(t, [usual]);
  await sendAlert(app, { message: '1' });
  await waitUntil('the destination is failing', async () => (await readState(app)).state === 'failing');
  const { failingSince } = await readState(app);
  await app.close();
  const settings = { dataDir: join(app.folder, 'data') };
  const still = await startOutbox(t, [usual], settings);
  await waitForRequests(receiver, 2);
  assert.deepEqual([(await readState(still)).state, (await readState(still)).failingSince], ['failing', failingSince]);
  await still.close();
  receiver.behave(answer(200));
  const next = await startOutbox(t, [usual], settings);
  await sendAlert(next, { message: '2' });
  await waitUntilIdle(next);
  assert.deepEqual(messagesOf(receiver), ['1', '1', '1', '2']);
});

test('a Retry-After is obeyed across a restart', async (t) => {
  const receiver = await startReceiver(t, answer(503, { 'retry-after': '3600' }));
  const app = await startOutbox(t, [toDestination(receiver)]);
  await sendAlert(app, disk);
  await waitUntil('the destination waits', async () => (await readState(app)).state === 'waiting');
  await app.close();
  const next = await startOutbox(t, [toDestination(receiver)], { dataDir: join(app.folder, 'data') });
  await waitUntil('the destination waits', async () => (await readState(next)).state === 'waiting');
  const wait = Date.parse((await readState(next)).nextAttempt ?? '') - Date.now();
  assert.ok(wait > 3_500_000, `${wait} ms`);
  assert.equal(receiver.requests.length, 1);
  receiver.behave(answer(200));
  await retryAll(next);
  await waitUntilIdle(next);
});

test('times stored while the clock was ahead do not delay deliveries or failure alerts for long', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startOutbox(t, [toDestination(receiver)]);
  await app.close();
  const dataDir = join(app.folder, 'data');
  const file = join(dataDir, 'outbox-hook.progress');
  const ahead = Date.parse('2999-01-01T00:00:00Z');
  const notice = { id: 'x', message: 'x', at: ahead, isResolved: true };
  const kept = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...kept, receiver: { notBefore: ahead, notice } }));
  const next = await startOutbox(t, [toDestination(receiver)], { dataDir });
  await sendAlert(next, disk);
  await waitUntil('the destination waits', async () => (await readState(next)).state === 'waiting');
  const wait = Date.parse((await readState(next)).nextAttempt ?? '') - Date.now();
  assert.ok(wait > 0 && wait <= 24 * 3_600_000, `${wait} ms`);
  assert.equal(receiver.requests.length, 0);
  receiver.behave(answer(404));
  await retryAll(next);
  await waitUntil('the failure is reported', async () =>
    (await readRecords(app)).some(({ sender, status }) => sender === 'signalbox' && status === 'firing'),
  );
});

test('a delivery to a host ends the backoff of other destinations that could not reach the host', async (t) => {
  const receiver = await startReceiver(t);
  const port = Number(new URL(receiver.url).port);
  await receiver.close();
  const waits = { retrySeconds: Array(9).fill(3600) };
  const slow = toDestination(receiver, { name: 'slow', levels: ['ERROR'], ...waits });
  const app = await startOutbox(t, [slow, toDestination(receiver, { levels: ['INFO'], ...waits })]);
  await sendAlert(app, { level: 'ERROR', message: '1' });
  await waitUntil('the alert waits', async () => (await readState(app, 'slow')).state === 'waiting');
  const again = await startReceiver(t, answer(200), port);
  await sendAlert(app, { level: 'INFO', message: '2' });
  await waitUntilIdle(app, 'slow');
  assert.deepEqual(messagesOf(again), ['2', '1']);
});

test('a delivery to a host ends the backoff of alerts to other destinations to which the host responded with an error', async (t) => {
  const receiver = await startReceiver(t, answer(502));
  const waits = { retrySeconds: Array(9).fill(3600) };
  const slow = toDestination(receiver, { name: 'slow', levels: ['ERROR'], ...waits });
  const app = await startOutbox(t, [slow, toDestination(receiver, { levels: ['INFO'], ...waits })]);
  await sendAlert(app, { level: 'ERROR', message: '1' });
  await waitUntil('the alert waits', async () => (await readState(app, 'slow')).state === 'waiting');
  receiver.behave(answer(200));
  await sendAlert(app, { level: 'INFO', message: '2' });
  await waitUntilIdle(app, 'slow');
  assert.deepEqual(messagesOf(receiver), ['1', '2', '1']);
});

test('deliveries continue after a restart where they stopped', async (t) => {
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
  const filter = { levels: ['err', 'Critical'], sources: ['disk/*', 'net'], formats: ['native'] };
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

test('the filter compares severities, not the levels of senders', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startOutbox(t, [toDestination(receiver, { levels: ['CRITICAL', 'ERROR', 'WARNING'] })]);
  for (const level of ['WARN', 'fatal', 'info', 'P2', 'odd', 'debug', ''])
    await sendAlert(app, { level, message: level || 'none' });
  await waitUntilIdle(app);
  assert.deepEqual(messagesOf(receiver), ['WARN', 'fatal', 'P2', 'odd', 'none']);
});

test('a new destination gets later alerts, or all alerts with startAt oldest', async (t) => {
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

test('with concurrency 4, four requests run at a time, and every alert is delivered', async (t) => {
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
