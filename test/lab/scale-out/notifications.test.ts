import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passwords } from '../../support/credentials.ts';
import { readNotificationTexts, toIncidentDestination } from '../../support/notifications.ts';
import { toSkipPostgres } from '../../support/postgres/installation.ts';
import { createDatabase } from '../../support/postgres/shared-server.ts';
import { startReceiver } from '../../support/receiver.ts';
import { waitUntil } from '../../support/wait.ts';
import { startInstances } from './support/instances.ts';

const longestTakeoverMs = 30_000;

interface Sent {
  destination: string;
  what: string;
  incident: { number: number; title: string };
}

test('one instance at a time notifies, and after kill -9 another instance does within 30 s', {
  skip: toSkipPostgres(),
}, async (t) => {
  const receiver = await startReceiver(t);
  const destinations = [
    toIncidentDestination(receiver, { name: 'first', url: `${receiver.url}/first` }),
    toIncidentDestination(receiver, { name: 'later', url: `${receiver.url}/later`, after: 0.05 }),
  ];
  const store = await createDatabase(t);
  const { all } = await startInstances(t, { store, settings: { destinations } });
  const [one, other] = all;
  assert.ok(other);
  const tokenOf = async (url: string): Promise<string> => {
    const body = JSON.stringify({ Username: 'admin', Password: passwords.admin });
    const answer = await fetch(`${url}/api/auth/login`, { method: 'POST', body });
    return ((await answer.json()) as { token: string }).token;
  };
  const fire = async (url: string, key: string): Promise<void> => {
    const body = JSON.stringify({ key, level: 'ERROR', message: key });
    assert.equal((await fetch(`${url}/api/alert`, { method: 'POST', body })).status, 200);
  };
  /** Returns the messages to each destination. A message that is sent again because of a kill keeps its id. */
  const readMessages = (): Map<string, string> =>
    new Map(
      receiver.requests.map(({ path, headers, body }) => [
        `${path} ${headers['webhook-id']}`,
        `${path} ${readNotificationTexts(body).join()}`,
      ]),
    );
  await fire(one.url, 'a');
  await fire(other.url, 'b');
  await waitUntil('both destinations have both messages', () => readMessages().size === 4, 40_000);
  // Only the database knows which instance sends, so both are killed in turn.
  for (const [index, [killed, left]] of [[one, other] as const, [other, one] as const].entries()) {
    const count = readMessages().size;
    await killed.stop('SIGKILL');
    const begun = performance.now();
    await fire(left.url, `c${index}`);
    await waitUntil('the other instance notifies', () => readMessages().size === count + 2, longestTakeoverMs);
    t.diagnostic(`notified ${((performance.now() - begun) / 1000).toFixed(1)} s after kill -9`);
    await killed.start();
  }
  const token = await tokenOf(one.url);
  const list = async (): Promise<string[]> => {
    const answer = await fetch(`${one.url}/api/notifications?limit=100`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { data } = (await answer.json()) as { data: Sent[] };
    return data.map(({ destination, what, incident }) => {
      return `/${destination} ${what} #${incident.number} ${incident.title}`;
    });
  };
  await waitUntil('all sent notifications are stored', async () => (await list()).length >= readMessages().size);
  assert.deepEqual((await list()).toSorted(), [...readMessages().values()].toSorted());
  assert.equal(new Set(readMessages().values()).size, 8);
  const again = receiver.requests.length - readMessages().size;
  t.diagnostic(`${again} of 8 messages were sent twice, because they were not noted before a kill`);
});
