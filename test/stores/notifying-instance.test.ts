import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { waitForRequests } from '../support/outbox.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { startReceiver } from '../support/receiver.ts';

const skip = toSkipPostgres();

test('an instance without destinations leaves the notifications to the instance that has one', { skip }, async (t) => {
  const store = await createDatabase(t);
  const receiver = await startReceiver(t);
  const common = { store, timeZone: 'UTC' };
  const intake = await startApp(t, { settings: { ...common, instanceName: 'intake', profiles: ['alerts'] } });
  const phone = { name: 'phone', type: 'webhook', url: receiver.url, notify: 'incidents', groupSeconds: 0 };
  await startApp(t, { settings: { ...common, instanceName: 'desk', destinations: [phone] } });
  await sendAlert(intake, { level: 'ERROR', message: 'the disk is full' });
  await waitForRequests(receiver, 1);
  assert.equal(receiver.requests.length, 1);
});
