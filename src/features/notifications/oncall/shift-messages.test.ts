import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp, type TestApp } from '../../../../test/support/app.ts';
import { createFolder } from '../../../../test/support/folder.ts';
import { answer, startReceiver } from '../../../../test/support/receiver.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { hourMs, minuteMs } from '../../../lib/units.ts';

const handover = { every: '1 week', at: 'Mon 09:00' };
const inMinutes = (minutes: number): string => new Date(Date.now() + minutes * minuteMs).toISOString();

/** Creates a way to reach the Reader. Returns functions that send requests as the Admin. */
const prepare = async (app: TestApp, url: string) => {
  const reader = await app.login('reader');
  const body = { type: 'ntfy', url: `${url}/topic` };
  const created = await app.request('PUT', '/api/people/me/ways/phone', { token: reader, body });
  assert.equal(created.status, 201, created.text);
  const token = await app.login('admin');
  return (method: string, path: string, sent: object) => app.request(method, path, { token, body: sent });
};

test('a person is reminded an hour before a shift, once, even after a restart', async (t) => {
  const receiver = await startReceiver(t);
  const dataDir = join(createFolder(t), 'data');
  const app = await startApp(t, { settings: { dataDir } });
  const send = await prepare(app, receiver.url);
  const layers = [{ people: ['reader'], handover, from: inMinutes(45) }];
  assert.equal((await send('PUT', '/api/rotations/ops', { layers })).status, 201);
  await waitUntil('the reminder arrives', () => receiver.requests.length === 1);
  assert.match(
    receiver.requests[0]?.body ?? '',
    /Your shift in ops begins in 45 minutes, at \d{4}-\d\d-\d\d \d\d:\d\d [+-]\d\d:\d\d\./,
  );
  await app.close();
  const next = await startApp(t, { settings: { dataDir } });
  const token = await next.login('admin');
  const body = { layers: [...layers, { people: ['reader'], handover, from: inMinutes(300), until: inMinutes(301) }] };
  await next.request('PUT', '/api/rotations/ops', { token, body });
  // The way's test message is sent after all messages that are due.
  await next.request('POST', '/api/people/reader/ways/phone/test', { token });
  await waitUntil('the test arrives', () => receiver.requests.length === 2);
  assert.doesNotMatch(receiver.requests[1]?.body ?? '', /Your shift/);
});

test('a reminder is retried until the receiver accepts it, and a restart meanwhile loses nothing', async (t) => {
  const receiver = await startReceiver(t, answer(503));
  const dataDir = join(createFolder(t), 'data');
  const app = await startApp(t, { settings: { dataDir } });
  const send = await prepare(app, receiver.url);
  const layers = [{ people: ['reader'], handover, from: inMinutes(45) }];
  await send('PUT', '/api/rotations/ops', { layers });
  await waitUntil('the receiver fails', () => receiver.requests.length >= 1);
  await app.close();
  const failures = receiver.requests.length;
  receiver.behave((response, _, index) => void response.writeHead(index === failures ? 503 : 200).end());
  const next = await startApp(t, { settings: { dataDir } });
  await waitUntil('the reminder arrives', () => receiver.requests.length >= failures + 2);
  const token = await next.login('admin');
  const recorded = () => next.request('POST', '/api/people/reader/ways/phone/test', { token });
  await recorded();
  assert.equal(receiver.requests.length, failures + 3);
  for (const { body } of receiver.requests.slice(0, -1)) assert.match(body, /Your shift in ops begins in 4\d minutes/);
});

test('the report at a handover lists open incidents, incidents of the last shift, and silences with their ends', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startApp(t);
  const send = await prepare(app, receiver.url);
  await send('POST', '/api/alert', { source: 'backup', level: 'ERROR', message: 'disk is full', hostname: 'db-1' });
  await waitUntil('there is an incident', async () => {
    const { json } = await app.request<{ data: unknown[] }>('GET', '/api/incidents');
    return json.data.length === 1;
  });
  const silence = {
    match: { source: 'smart' },
    endsAt: new Date(Date.now() + hourMs).toISOString(),
    comment: 'new disk',
  };
  assert.equal((await send('POST', '/api/silences', silence)).status, 201);
  const layers = [{ people: ['admin'], handover, from: inMinutes(-600) }];
  assert.equal((await send('PUT', '/api/rotations/ops', { layers })).status, 201);
  const override = { rotation: 'ops', member: 'reader', endsAt: inMinutes(120) };
  assert.equal((await send('POST', '/api/oncall/overrides', override)).status, 201);
  await waitUntil('the report arrives', () => receiver.requests.length === 1);
  const report = receiver.requests[0]?.body ?? '';
  assert.match(report, /You are now on call in ops until \d{4}-\d\d-\d\d \d\d:\d\d /);
  assert.match(report, /Open incidents:\s*#1 ERROR db-1: disk is full/);
  assert.match(report, /Nobody has been notified since/);
  assert.match(report, /Silenced:\s*source=~smart until .*\(new disk\)/);
});
