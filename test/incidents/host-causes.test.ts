import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { enrol, report } from '../hosts/support/hosts.ts';
import { startApp } from '../support/app.ts';
import { messagesTo, toIncidentDestination } from '../support/notifications.ts';
import { answer, startReceiver } from '../support/receiver.ts';
import { waitUntilPasses } from '../support/wait.ts';
import { waitForState } from '../watches/support/watches.ts';
import { listEvents, listIncidents } from './support/incidents.ts';

/** Milliseconds until hosts are silent and their alert has notified, on a busy machine. */
const silenceMs = 60_000;

/**
 * Starts a server with these hosts and a failing site. The hosts have reported once. The site depends on the first
 * host.
 */
const startDesk = async (t: TestContext, names: readonly string[]) => {
  const [pager, site] = [await startReceiver(t), await startReceiver(t)];
  const app = await startApp(t, {
    settings: {
      silentSeconds: 20,
      dependsGraceSeconds: 3,
      destinations: [toIncidentDestination(pager)],
      hosts: names.map((name) => ({ name })),
      watches: [{ name: 'web', type: 'http', url: site.url, every: 1, dependsOn: [`host/${names[0]}`] }],
    },
  });
  const token = await app.login('admin');
  const keys = new Map<string, string>();
  for (const name of names) keys.set(name, await enrol(app, token, name));
  const send = async (name: string) => assert.equal((await report(app, keys.get(name) ?? '', name)).status, 200);
  await waitForState(app, token, 'web', 'ok');
  for (const name of names) await send(name);
  site.behave(answer(500));
  await waitForState(app, token, 'web', 'firing');
  const findIncident = async (source: string) => (await listIncidents(app, `?state=all&source=${source}`)).data[0];
  const waitForMessages = (expected: RegExp[]) =>
    waitUntilPasses(() => {
      const messages = messagesTo(pager);
      assert.equal(messages.length, expected.length, JSON.stringify(messages));
      for (const [index, text] of messages.entries()) assert.match(text, expected[index] ?? /^$/);
    }, silenceMs);
  return { app, send, findIncident, waitForMessages, recover: () => site.behave(answer(200)) };
};

test('the incident of a watch waits for its silent host, names it as the cause, and notifies nobody', async (t) => {
  const { app, send, findIncident, waitForMessages, recover } = await startDesk(t, ['web-1']);
  await waitForMessages([/^opened .*web-1 has not reported since/]);
  const cause = await findIncident('host/web-1');
  const held = await findIncident('watch/web');
  assert.deepEqual(held?.cause, { id: cause?.id, number: cause?.number, name: 'host web-1' });
  assert.deepEqual(await listEvents(app, held?.id ?? ''), ['opened', 'inhibited']);
  recover();
  await waitUntilPasses(async () => assert.equal((await findIncident('watch/web'))?.state, 'resolved'));
  await send('web-1');
  await waitForMessages([/^opened .*web-1/, /^resolved .*web-1/]);
});

test('the alert about most hosts is the cause for each of them, until a host reports again', async (t) => {
  const { send, findIncident, waitForMessages } = await startDesk(t, ['web-1', 'web-2', 'web-3']);
  await waitForMessages([/^opened .*[23] of 3 hosts have not reported since/]);
  const cause = await findIncident('hosts');
  assert.deepEqual((await findIncident('watch/web'))?.cause, {
    id: cause?.id,
    number: cause?.number,
    name: 'host web-1',
  });
  await send('web-1');
  const returnedAt = performance.now();
  await waitForMessages([/^opened .*[23] of 3 hosts/, /^opened .*web/]);
  assert.ok(performance.now() - returnedAt < 20_000, `notified after ${performance.now() - returnedAt} ms`);
  assert.equal((await findIncident('hosts'))?.state, 'open');
});
