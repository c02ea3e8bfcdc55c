import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHappening, createIncident } from '../../../../test/support/incident-messages.ts';
import { startReceiver } from '../../../../test/support/receiver.ts';
import { openSender } from '../destinations/sender.ts';
import { toTarget } from '../destinations/target.ts';
import { createAlertFinder } from './find-alert.ts';
import { createMessageSender } from './message-sender.ts';

const alert = {
  seq: 1,
  id: createIncident().lastAlert,
  crc: '',
  message: 'disk full',
  details: '92 % of 50 GB are used',
};

/** Sends to a receiver what `findAlert` finds; resolves to the bodies of its requests. */
const open = async (t: Parameters<typeof startReceiver>[0], findAlert: () => Promise<typeof alert | undefined>) => {
  const receiver = await startReceiver(t);
  const sender = await openSender(
    toTarget({ name: 'phone', type: 'ntfy', url: `${receiver.url}/alerts` }),
    1,
    () => new Date(),
  );
  const messages = createMessageSender({
    destination: { name: 'phone', type: 'ntfy', url: 'http://127.0.0.1:9', createdAt: undefined },
    instance: 'signalbox/0123456789abcdef',
    sender,
    findAlert: createAlertFinder({ find: findAlert }),
    links: { publicUrl: 'https://signalbox.example.org', toUrl: ({ name }, ids) => `https://a/${name}/${ids.length}` },
  });
  t.after(() => messages.close());
  return { messages, requests: receiver.requests };
};

test('a message about one incident has the details of its last alert, and a link for its destination', async (t) => {
  const { messages, requests } = await open(t, async () => alert);
  assert.deepEqual(await messages.send([createHappening()]), { kind: 'delivered' });
  const [request] = requests;
  assert.match(request?.body ?? '', /92 % of 50 GB are used/);
  assert.match(String(request?.headers['actions']), /https:\/\/a\/phone\/1/);
});

test('a message does not need the alert, nor wait for it for long', async (t) => {
  const missing = [
    async () => undefined,
    () => Promise.reject(new Error('the disk fails')),
    () => new Promise<never>(() => undefined),
  ];
  for (const findAlert of missing) {
    const { messages, requests } = await open(t, findAlert);
    assert.deepEqual(await messages.send([createHappening()]), { kind: 'delivered' });
    assert.match(requests[0]?.body ?? '', /CRITICAL · db-1/);
  }
});
