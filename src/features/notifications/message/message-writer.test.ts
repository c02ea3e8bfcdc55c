import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createIncident, createUpdate } from '../../../../test/support/incident-messages.ts';
import { createAlertFinder } from './find-alert.ts';
import { createMessageWriter } from './message-writer.ts';

const alert = {
  seq: 1,
  id: createIncident().lastAlert,
  crc: '',
  message: 'disk full',
  details: '92 % of 50 GB are used',
};

/** Creates a writer for the destination `phone` that finds alerts with `find`. */
const createWriter = (find: () => Promise<typeof alert | undefined>) =>
  createMessageWriter({
    destination: { name: 'phone', type: 'ntfy', url: 'http://127.0.0.1:9', createdAt: undefined },
    instance: 'signalbox/0123456789abcdef',
    findAlert: createAlertFinder({ find }),
    links: { publicUrl: 'https://signalbox.example.org', toUrl: ({ name }, ids) => `https://a/${name}/${ids.length}` },
  });

test('a message about one incident has the details of its last alert, and a link for its destination', async () => {
  const { body, acknowledgeUrl } = await createWriter(async () => alert)([createUpdate()]);
  assert.match(body, /92 % of 50 GB are used/);
  assert.equal(acknowledgeUrl, 'https://a/phone/1');
});

test('a message is written without an alert that is missing, unreadable or slow', async () => {
  const missing = [
    async () => undefined,
    () => Promise.reject(new Error('the disk fails')),
    () => new Promise<never>(() => undefined),
  ];
  for (const find of missing) {
    const { body } = await createWriter(find)([createUpdate()]);
    assert.match(body, /CRITICAL · db-1/);
  }
});
