import assert from 'node:assert/strict';
import { test } from 'node:test';
import { act, fire, messagesTo, readIncident, startNotifier, toIncidentDestination } from '../support/notifications.ts';
import { waitForRequests } from '../support/outbox.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runSql } from '../support/postgres/server.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait.ts';

test('an incident whose acknowledgement the database has lost is escalated, and a lost incident is not', {
  skip: toSkipPostgres(),
}, async (t) => {
  const url = await createDatabase(t);
  const receiver = await startReceiver(t);
  const destination = toIncidentDestination(receiver, { after: 0.1 });
  const app = await startNotifier(t, [destination], { store: url, timeZone: 'UTC' });
  await fire(app, 'disk');
  await act(app, 1, 'acknowledge');
  await fire(app, 'lost');
  await waitUntil('the second incident is open', async () => (await readIncident(app, 2)).state === 'open');
  await runSql(
    url,
    `BEGIN; DELETE FROM signalbox.alert WHERE seq > 1; DELETE FROM signalbox.alert_event WHERE seq > 1;
    UPDATE signalbox.gate SET last_id = 1 WHERE name = 'alert'; COMMIT`,
  );
  await waitUntil('the first incident is open again', async () => (await readIncident(app, 1)).state === 'open');
  await waitForRequests(receiver, 1);
  assert.deepEqual(messagesTo(receiver), ['opened #1 disk is broken']);
  assert.equal((await readIncident(app, 2)).state, undefined);
});
