import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { disk, sendAlert } from '../../../test/support/alerts.ts';
import { startApp } from '../../../test/support/app.ts';
import { createFolder } from '../../../test/support/folder.ts';
import {
  adminToken,
  messagesOf,
  readState,
  retryAll,
  startOutbox,
  toDestination,
  waitForRequests,
  waitUntilIdle,
} from '../../../test/support/outbox.ts';
import { answer, startReceiver } from '../../../test/support/receiver.ts';
import { atEnd } from '../../../test/support/scope.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import type { AlertSource } from '../../kit/alert-source.ts';
import { createReach } from '../../kit/reach.ts';
import { openJournal } from '../../storage/journal/journal.ts';
import { createReplacedFile } from '../../storage/replaced-file.ts';
import { openDestinations } from './open-destinations.ts';
import { IncidentDestinations } from './plan/incident-destinations.ts';
import type { Notifier } from './plan/notifier.ts';

test('alerts that return from another signalbox are stored but not sent again', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startOutbox(t, [toDestination(receiver)]);
  await sendAlert(app, { message: 'out' });
  await waitForRequests(receiver, 1);
  const via = String(receiver.requests[0]?.headers['via']);
  for (const [header, message] of [
    [via, 'back'],
    [`signalbox/0123456789abcdef, ${via}`, 'back over another'],
    ['1.1 proxy, signalbox/0123456789abcdef', 'from another'],
  ]) {
    const { status } = await app.request('POST', '/api/alert', { body: { message }, headers: { via: header ?? '' } });
    assert.equal(status, 200);
  }
  await waitUntilIdle(app);
  assert.deepEqual(messagesOf(receiver), ['out', 'from another']);
  assert.equal(receiver.requests[1]?.headers['via'], `signalbox/0123456789abcdef, ${via}`);
  const { json } = await app.request<{ count: number }>('GET', '/api/alerts');
  assert.equal(json.count, 4);
});

test('an alert that is stored while startup reads the former destinations is delivered', async (t) => {
  const receiver = await startReceiver(t);
  const directory = createFolder(t);
  const alerts = await openJournal({ directory, name: 'alerts', minFreeBytes: 0 });
  const source = {
    journal: alerts,
    own: alerts,
    readInstance: async () => 'signalbox/0123456789abcdef',
    shareOrigin: () => undefined,
  } as unknown as AlertSource;
  const open = (onRead: () => Promise<unknown>) =>
    openDestinations({ configured: [toDestination(receiver)], outboxRetainBytes: 1e9 }, source, {
      storage: {
        log: (name, options) => openJournal({ directory, name, minFreeBytes: 0, ...options }),
        file: (name) => {
          const file = createReplacedFile(directory, name);
          const read = () => onRead().then(() => file.read());
          return name === 'outbox.destinations' ? { ...file, read } : file;
        },
      },
      clock: () => new Date(),
      log: pino({ level: 'silent' }),
      silences: { silencesOf: () => [] },
      links: { publicUrl: undefined, toUrl: () => undefined },
      reach: createReach([]),
      notifier: {} as Notifier,
      incidentDestinations: new IncidentDestinations(),
    });
  await (await open(async () => undefined)).close();
  const destinations = await open(() => alerts.append({ level: 'ERROR', message: 'meanwhile' }));
  atEnd(t, async () => {
    await destinations.close();
    await alerts.close();
  });
  await waitForRequests(receiver, 1);
  assert.deepEqual(messagesOf(receiver), ['meanwhile']);
});

test('a delivery carries the traceparent of the request that sent the alert', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startOutbox(t, [toDestination(receiver)]);
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const slack = { text: 'from a hook' };
  for (const [path, body, headers] of [
    ['/api/alert', { message: 'native' }, { traceparent }],
    ['/api/alert/slack', slack, { traceparent }],
    ['/api/alert', { message: 'without' }, {}],
    ['/api/alert', { message: 'forged' }, { traceparent: 'x' }],
  ] as const) {
    assert.equal((await app.request('POST', path, { body, headers })).status, 200);
  }
  await waitUntilIdle(app);
  const sent = receiver.requests.map(({ headers }) => headers['traceparent']);
  assert.deepEqual(sent, [traceparent, traceparent, undefined, undefined]);
});

test('two instances that deliver to each other send an alert once each way', async (t) => {
  const relay = { url: '' };
  const receiver = await startReceiver(t, async (response, { headers, body }) => {
    const { via = '', 'idempotency-key': key = '' } = headers as Record<string, string>;
    const { status } = await fetch(`${relay.url}/api/alert`, {
      method: 'POST',
      body,
      headers: { via, 'idempotency-key': key },
    });
    response.writeHead(status).end();
  });
  const first = await startOutbox(t, [toDestination(receiver)]);
  const second = await startOutbox(t, [{ name: 'first', type: 'webhook', url: `${first.url}/api/alert` }]);
  relay.url = second.url;
  await sendAlert(first, disk);
  await waitUntilIdle(first);
  await waitUntilIdle(second, 'first');
  await waitUntilIdle(first);
  const { json } = await first.request<{ data: { message: string }[] }>('GET', '/api/alerts');
  assert.deepEqual(
    json.data.map(({ message }) => message),
    [disk.message, disk.message],
  );
  assert.equal(receiver.requests.length, 1);
});

test('the retry route sends a given-up alert once', async (t) => {
  const receiver = await startReceiver(t, answer(400));
  const app = await startOutbox(t, [toDestination(receiver)]);
  const token = await adminToken(app);
  const retry = (id: string, name = 'hook') => app.request('POST', `/api/deliveries/${name}/${id}/retry`, { token });
  const id = await sendAlert(app, disk);
  await waitUntil('the alert is given up', async () => (await readState(app)).parked === 1);
  const failed = await retry(id);
  assert.deepEqual([failed.status, failed.json], [200, { delivered: false, reason: 'the receiver responded 400' }]);
  receiver.behave(answer(204));
  assert.deepEqual((await retry(id)).json, { delivered: true, reason: null });
  const { parked, parkedAlerts, state } = await readState(app);
  assert.deepEqual({ parked, parkedAlerts, state }, { parked: 0, parkedAlerts: [], state: 'idle' });
  assert.deepEqual(
    receiver.requests.map(({ headers }) => headers['webhook-id']),
    [id, id, id],
  );
  assert.equal((await retry(id)).status, 404);
  assert.equal((await retry(id, 'other')).status, 404);
  assert.equal((await retry('x')).status, 404);
});

test('a retry of a given-up alert does not send the alert that has its seq in a new log', async (t) => {
  const receiver = await startReceiver(t, answer(400));
  const dataDir = createFolder(t);
  const first = await startOutbox(t, [toDestination(receiver)], { dataDir });
  const id = await sendAlert(first, disk);
  await waitUntil('the alert is given up', async () => (await readState(first)).parked === 1);
  await first.close();
  rmSync(join(dataDir, 'alerts.jsonl'));
  const without = await startApp(t, { settings: { dataDir } });
  for (const message of ['one', 'two']) await sendAlert(without, { message });
  await without.close();
  const app = await startOutbox(t, [toDestination(receiver)], { dataDir });
  assert.equal((await readState(app)).parkedAlerts[0]?.id, id);
  const path = `/api/deliveries/hook/${id}/retry`;
  const { status, json } = await app.request('POST', path, { token: await adminToken(app) });
  assert.deepEqual([status, json], [404, { error: 'The alert is no longer in the log' }]);
});

test('a given-up alert that is being sent again is not sent twice at a time', async (t) => {
  const receiver = await startReceiver(t, answer(400));
  const app = await startOutbox(t, [toDestination(receiver)]);
  const token = await adminToken(app);
  const id = await sendAlert(app, disk);
  await waitUntil('the alert is given up', async () => (await readState(app)).parked === 1);
  receiver.behave((response) => void setTimeout(() => response.end(), 300));
  const retries = await Promise.all(
    [1, 2].map(() => app.request('POST', `/api/deliveries/hook/${id}/retry`, { token })),
  );
  assert.deepEqual(retries.map(({ status }) => status).sort(), [200, 429]);
});

test('a Reader lists deliveries, and only an Admin retries deliveries', async (t) => {
  const app = await startOutbox(t, []);
  for (const [method, path] of [
    ['GET', '/api/deliveries'],
    ['POST', '/api/deliveries/a/retry'],
    ['POST', '/api/deliveries/a/b/retry'],
  ] as const) {
    assert.equal((await app.request(method, path)).status, 401);
    const { status } = await app.request(method, path, { token: await app.login('reader') });
    assert.equal(status, method === 'GET' ? 200 : 403);
  }
  const { json } = await app.request('GET', '/api/deliveries', { token: await adminToken(app) });
  assert.deepEqual(json, { count: 0, data: [], quiet: false });
});

test('given-up alerts are known after a restart', async (t) => {
  const receiver = await startReceiver(t, answer(400));
  const destination = toDestination(receiver);
  const app = await startOutbox(t, [destination]);
  const id = await sendAlert(app, disk);
  await waitUntil('the alert is given up', async () => (await readState(app)).parked === 1);
  await app.close();
  const next = await startOutbox(t, [destination], { dataDir: join(app.folder, 'data') });
  const { parked, parkedAlerts } = await readState(next);
  assert.deepEqual([parked, parkedAlerts.map((alert) => alert.id)], [1, [id]]);
});

test('a log that was replaced delivers its alerts, although it begins at seq 1 again', async (t) => {
  const receiver = await startReceiver(t);
  const destination = toDestination(receiver);
  const app = await startOutbox(t, [destination]);
  for (const message of ['a', 'b', 'c']) await sendAlert(app, { message });
  await waitUntilIdle(app);
  await app.close();
  rmSync(join(app.folder, 'data', 'alerts.jsonl'));
  const next = await startOutbox(t, [destination], { dataDir: join(app.folder, 'data') });
  await sendAlert(next, { message: 'd' });
  await waitUntilIdle(next);
  assert.deepEqual(messagesOf(receiver), ['a', 'b', 'c', 'd']);
});

test('a 410 to an alert that is sent again makes the destination fail', async (t) => {
  let status = 400;
  const receiver = await startReceiver(t, (response) => response.writeHead(status).end());
  const app = await startOutbox(t, [toDestination(receiver)]);
  const id = await sendAlert(app, disk);
  await waitUntil('the alert is given up', async () => (await readState(app)).parked === 1);
  status = 410;
  await app.request('POST', `/api/deliveries/hook/${id}/retry`, { token: await adminToken(app) });
  const { state, parked } = await readState(app);
  assert.deepEqual([state, parked], ['failing', 1]);
});

test('one request sends all given-up and waiting alerts again', async (t) => {
  const receiver = await startReceiver(t, answer(422));
  const destination = toDestination(receiver, { retrySeconds: Array(9).fill(3600) });
  const app = await startOutbox(t, [destination]);
  for (const message of ['1', '2', '3']) await sendAlert(app, { message });
  await waitUntil('all alerts are given up', async () => (await readState(app)).parked === 3);
  receiver.behave(answer(503));
  await sendAlert(app, { message: '4' });
  await waitUntil('the last one waits', async () => (await readState(app)).state === 'waiting');
  receiver.behave(answer(200));
  assert.deepEqual(await retryAll(app), { destination: 'hook', parked: 3, waiting: 4 });
  await waitUntilIdle(app);
  assert.deepEqual(messagesOf(receiver).slice(-4), ['1', '2', '3', '4']);
  const { parked, dropped, lagAlerts } = await readState(app);
  assert.deepEqual({ parked, dropped, lagAlerts }, { parked: 0, dropped: 0, lagAlerts: 0 });
  assert.deepEqual(await retryAll(app), { destination: 'hook', parked: 0, waiting: 0 });
});

test('given-up alerts that are retried still wait after a restart, and no alert of a new log is sent in their place', async (t) => {
  const receiver = await startReceiver(t, answer(400));
  const destination = toDestination(receiver, { retrySeconds: Array(9).fill(3600) });
  const dataDir = createFolder(t);
  const app = await startOutbox(t, [destination], { dataDir });
  for (const message of ['1', '2']) await sendAlert(app, { message });
  await waitUntil('both alerts are given up', async () => (await readState(app)).parked === 2);
  receiver.behave(answer(503));
  await retryAll(app);
  await waitUntil('they wait', async () => (await readState(app)).state === 'waiting');
  await app.close();
  rmSync(join(dataDir, 'alerts.jsonl'));
  const without = await startApp(t, { settings: { dataDir } });
  for (const message of ['3', '4', '5']) await sendAlert(without, { message });
  await without.close();
  receiver.behave(answer(200));
  const next = await startOutbox(t, [destination], { dataDir });
  await waitUntilIdle(next);
  assert.deepEqual(
    messagesOf(receiver)
      .slice(3)
      .filter((message) => ['3', '4'].includes(message)),
    [],
  );
  assert.equal((await readState(next)).dropped, 2);
});

test('the retry route sends a waiting alert immediately', async (t) => {
  const receiver = await startReceiver(t, answer(404));
  const app = await startOutbox(t, [toDestination(receiver)]);
  const token = await adminToken(app);
  const [first, second] = [await sendAlert(app, { message: '1' }), await sendAlert(app, { message: '2' })];
  await waitUntil('the destination is failing', async () => (await readState(app)).state === 'failing');
  receiver.behave(answer(401));
  const refused = await app.request('POST', `/api/deliveries/hook/${second}/retry`, { token });
  assert.deepEqual(refused.json, { delivered: false, reason: 'the receiver responded 401' });
  receiver.behave(answer(200));
  const sent = await app.request('POST', `/api/deliveries/hook/${second}/retry`, { token });
  assert.deepEqual(sent.json, { delivered: true, reason: null });
  await waitUntilIdle(app);
  const ids = receiver.requests.map(({ headers }) => headers['webhook-id']);
  assert.deepEqual([...new Set(ids)].sort(), [first, second].sort());
  assert.equal(ids.at(-1), first);
});

test('a destination shows its address and the alerts that it gets', async (t) => {
  const receiver = await startReceiver(t);
  const filter = { levels: ['CRITICAL', 'P2'], sources: ['a*'] };
  const app = await startOutbox(t, [toDestination(receiver, { ...filter, repeatMinutes: 30 })]);
  const state = (await readState(app)) as unknown as Record<string, unknown>;
  assert.equal(state['address'], receiver.url);
  assert.deepEqual(state['filter'], { ...filter, formats: null });
  assert.deepEqual([state['notify'], state['repeatMinutes']], ['alerts', 30]);
});

test('secrets, headers and urls are neither logged nor shown nor stored', async (t) => {
  const receiver = await startReceiver(t, (response, _request, index) =>
    answer([500, 400, 410][index] ?? 410)(response, _request, index),
  );
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line) => lines.push(line) });
  const secret = `whsec_${Buffer.alloc(24, 'hidden').toString('base64')}`;
  const file = join(createFolder(t), 'secret');
  writeFileSync(file, 'hidden-token\n');
  const app = await startApp(t, {
    log,
    settings: {
      destinations: [
        toDestination(receiver, {
          secret: [secret, secret],
          url: `${receiver.url}/hidden-path`,
          token: 'hidden-bearer',
          headers: { 'X-Api-Key': { file } },
        }),
        toDestination(receiver, {
          name: 'ntfy',
          type: 'ntfy',
          secretFile: file,
          url: 'http://127.0.0.1:1/hidden-path',
        }),
      ],
    },
  });
  await sendAlert(app, disk);
  await sendAlert(app, disk);
  await waitUntil('hook is failing', async () => (await readState(app)).state === 'failing');
  assert.equal(receiver.requests[0]?.headers['authorization'], 'Bearer hidden-bearer');
  assert.equal(receiver.requests[0]?.headers['x-api-key'], 'hidden-token');
  await waitUntil('ntfy alerts are given up', async () => (await readState(app, 'ntfy')).parked >= 2);
  const shown = await app.request('GET', '/api/deliveries', { token: await adminToken(app) });
  await app.close();
  const folder = join(app.folder, 'data');
  const stored = readdirSync(folder).filter((name) => /^(alerts.*\.jsonl|outbox.*)$/.test(name));
  assert.deepEqual(stored.sort(), [
    'alerts.jsonl',
    'outbox-hook.progress',
    'outbox-ntfy.progress',
    'outbox.destinations',
    'outbox.jsonl',
  ]);
  const texts = [...lines, shown.text, ...stored.map((name) => readFileSync(join(folder, name), 'utf8'))];
  for (const text of texts) assert.doesNotMatch(text, /hidden|whsec_|aGlkZGVu/);
  assert.ok(lines.some((line) => line.includes('the receiver responded 410')));
});

test('retention keeps undelivered alerts up to outboxRetainBytes, and counts dropped ones', async (t) => {
  const receiver = await startReceiver(t, answer(500));
  const message = 'x'.repeat(2000);
  const limits = { alertsSegmentBytes: 10_000, alertsRetainSegments: 1 };
  for (const [outboxRetainBytes, isKept] of [
    [1_000_000, true],
    [30_000, false],
  ] as const) {
    const destination = toDestination(receiver, { retrySeconds: Array(99).fill(1) });
    const app = await startOutbox(t, [destination], { ...limits, outboxRetainBytes });
    for (let n = 0; n < 40; n += 1) await sendAlert(app, { message });
    const countFiles = (): number =>
      readdirSync(join(app.folder, 'data')).filter((name) => /^alerts\.\d+\.jsonl$/.test(name)).length;
    // Log files are deleted once an incident snapshot is on disk.
    if (!isKept) await waitUntil('the oldest files are deleted', () => countFiles() <= 3);
    const { dropped, lagAlerts } = await readState(app);
    assert.equal(dropped + lagAlerts, 40);
    assert.equal(dropped === 0, isKept, `${dropped} dropped`);
    if (isKept) assert.ok(countFiles() >= 8, `${countFiles()} files`);
    if (isKept) {
      await app.close();
      receiver.behave(answer(200));
      const next = await startOutbox(t, [toDestination(receiver)], { ...limits, dataDir: join(app.folder, 'data') });
      await waitForRequests(receiver, 2);
      await next.close();
      receiver.behave(answer(500));
    }
  }
});

test('an alert shows its delivery status at each destination', async (t) => {
  const [good, bad, down] = [
    await startReceiver(t),
    await startReceiver(t, answer(400)),
    await startReceiver(t, answer(500)),
  ];
  const app = await startOutbox(t, [
    toDestination(good, { name: 'good' }),
    toDestination(bad, { name: 'bad' }),
    toDestination(down, { name: 'down', retrySeconds: [3600] }),
    toDestination(good, { name: 'other', levels: ['CRITICAL'] }),
  ]);
  const id = await sendAlert(app, disk);
  for (const name of ['good', 'bad', 'other']) await waitUntilIdle(app, name);
  await waitUntil('down waits', async () => (await readState(app, 'down')).state === 'waiting');
  const { json } = await app.request('GET', `/api/alerts/${id}`);
  assert.deepEqual(json['deliveries'], [
    { destination: 'good', status: 'delivered', attempts: 0, error: null },
    { destination: 'bad', status: 'parked', attempts: 0, error: 'the receiver responded 400' },
    { destination: 'down', status: 'waiting', attempts: 1, error: null },
    { destination: 'other', status: 'skipped', attempts: 0, error: null },
  ]);
});
