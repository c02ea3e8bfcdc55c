import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listMessages, sendAlert } from '../support/alerts.ts';
import { openEvents } from '../support/events.ts';
import { createFolder } from '../support/folder.ts';
import { startOutbox, toDestination, waitUntilIdle } from '../support/outbox.ts';
import { runProgram } from '../support/program.ts';
import { startReceiver } from '../support/receiver.ts';
import { waitUntilPasses } from '../support/wait.ts';
import { waitForIncident } from './support/incidents.ts';

const disk = { source: 'disk', level: 'ERROR', message: 'sda1 is full', hostname: 'web-1' };

test('actions on incidents appear in no list, search, count, stream, export or delivery of alerts', async (t) => {
  const receiver = await startReceiver(t);
  const dataDir = join(createFolder(t), 'data');
  const app = await startOutbox(t, [toDestination(receiver)], { dataDir });
  const token = await app.login('admin');
  const stream = await openEvents(t, app.url, 'alerts');
  await sendAlert(app, disk);
  await waitForIncident(app, { count: 1 });
  for (let index = 0; index < 120; index += 1) {
    const { status } = await app.request('POST', '/api/incidents/1/comment', { token, body: { comment: `c${index}` } });
    assert.equal(status, 200);
  }
  await sendAlert(app, { ...disk, message: 'sdb1 is full' });
  const messages = ['sda1 is full', 'sdb1 is full'];
  assert.deepEqual(await listMessages(app), messages);
  assert.deepEqual(await listMessages(app, '?count=1'), ['sdb1 is full']);
  assert.deepEqual(await listMessages(app, '?level=ERROR'), messages);
  const { json: found } = await app.request<{ data: { message: string }[]; next: unknown }>(
    'GET',
    '/api/alerts/search',
  );
  assert.deepEqual([found.data.map(({ message }) => message), found.next], [messages.toReversed(), null]);
  const { json } = await app.request<{ buckets: { count: number }[] }>('GET', '/api/alerts/histogram');
  const total = json.buckets.reduce((sum, { count }) => sum + count, 0);
  assert.equal(total, 2);
  const events = readFileSync(join(dataDir, 'alerts.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .filter((line) => line.startsWith('{"feature":"incidents"'));
  assert.equal(events.length, 120);
  const { id } = JSON.parse(events[0] ?? '');
  assert.equal((await app.request('GET', `/api/alerts/${id}`)).status, 404);
  await waitUntilIdle(app);
  assert.equal(receiver.requests.length, 2);
  await waitUntilPasses(async () =>
    assert.deepEqual(
      stream
        .events()
        .filter(({ name }) => name === 'alerts')
        .map(({ data }) => data['message']),
      messages,
    ),
  );
  await app.close();
  const { code, stdout } = await runProgram(['export', '--data-dir', dataDir, '--store', 'file']);
  assert.equal(code, 0);
  assert.equal(stdout.match(/^\{"alerts":/gm)?.length, 2);
  assert.doesNotMatch(stdout, /"feature"/);
});

test('after a restart, the list of last alerts has an alert that is followed by many comments', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  const app = await startOutbox(t, [], { dataDir });
  const token = await app.login('admin');
  await sendAlert(app, disk);
  await waitForIncident(app, { count: 1 });
  const comment = 'x'.repeat(4000);
  for (let index = 0; index < 300; index += 1) {
    await app.request('POST', '/api/incidents/1/comment', { token, body: { comment } });
  }
  assert.deepEqual(await listMessages(app), ['sda1 is full']);
  await app.close();
  const next = await startOutbox(t, [], { dataDir });
  assert.deepEqual(await listMessages(next), ['sda1 is full']);
  await waitForIncident(next, { count: 1 });
});
