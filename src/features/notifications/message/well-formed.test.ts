import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../../../test/support/folder.ts';
import { createUpdate } from '../../../../test/support/incident-messages.ts';
import { startOutbox, waitForRequests } from '../../../../test/support/outbox.ts';
import { startReceiver } from '../../../../test/support/receiver.ts';
import { openJournal } from '../../../storage/journal/journal.ts';
import { toDestinationDefinition } from '../destinations/definition.ts';
import { openTransport } from '../destinations/transport.ts';
import { createIncidentMessage } from './message.ts';

const half = 'cannot send the receipt \ud83d';
const labels = { 'team\ud83d': 'db\ude00' };

const form = { 'content-type': 'application/x-www-form-urlencoded' };

const destinations: [path: string, settings: { type: string; [name: string]: unknown }][] = [
  ['/?text={message}&labels={labels}', { type: 'template', method: 'GET' }],
  ['/', { type: 'template', body: 'text={message}&all={json labels}', headers: form }],
  ['/', { type: 'template', body: '{"text": "{message}", "labels": {json labels}}' }],
  ['/', { type: 'gotify', secret: 't' }],
  ['/', { type: 'slack' }],
  ['/', { type: 'apprise' }],
  ['/', { type: 'ntfy' }],
  ['/', { type: 'webhook' }],
  ['/', { type: 'alertmanager' }],
];

/** Checks raw and JSON-escaped text. */
const assertWellFormed = (text: string): void => {
  assert.ok(text.isWellFormed(), JSON.stringify(text));
  assert.doesNotMatch(text, /\\u[dD][89a-fA-F]/);
};

for (const [path, settings] of destinations) {
  const name = `${JSON.stringify(settings)} at ${path}`;
  test(`a stored alert with half a surrogate pair is delivered with U+FFFD in its place: ${name}`, async (t) => {
    const receiver = await startReceiver(t);
    const directory = join(createFolder(t), 'data');
    const journal = await openJournal({ directory, name: 'alerts', report: () => undefined });
    await journal.append({
      time: new Date().toISOString(),
      level: 'ERROR',
      message: half,
      source: half,
      hostname: half,
      labels,
      details: half,
    });
    await journal.close();
    const destination = { name: 'hook', url: `${receiver.url}${path}`, startAt: 'oldest', ...settings };
    await startOutbox(t, [destination], { dataDir: directory });
    await waitForRequests(receiver, 1);
    const [request] = receiver.requests;
    assert.ok(request);
    assertWellFormed(request.body);
    assert.match(`${request.path} ${request.body}`, /\ufffd|%EF%BF%BD/);
  });

  test(`an incident with half a surrogate pair is delivered with U+FFFD in its place: ${name}`, async (t) => {
    const receiver = await startReceiver(t);
    const target = toDestinationDefinition({
      name: 'hook',
      url: `${receiver.url}${path}`,
      notify: 'incidents',
      ...settings,
    });
    const transport = await openTransport(target, 1, () => new Date());
    t.after(() => transport.close());
    const update = createUpdate({ title: half, source: half, hostname: half, about: half, labels });
    const message = createIncidentMessage([update], {
      publicUrl: undefined,
      toAcknowledgeUrl: () => undefined,
      instance: 'signalbox/0123456789abcdef',
    });
    assert.equal((await transport.send(message)).outcome.kind, 'delivered');
    assertWellFormed(receiver.requests[0]?.body ?? '');
  });
}
