import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passwords } from '../support/app.ts';
import { readNews, toIncidentDestination } from '../support/notifications.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait.ts';
import { startInstances } from './support/instances.ts';

const longestTakeoverMs = 30_000;

test('one instance at a time notifies, and another one within 30 s after kill -9', {
  skip: toSkipPostgres(),
}, async (t) => {
  const receiver = await startReceiver(t);
  const destinations = [
    toIncidentDestination(receiver),
    toIncidentDestination(receiver, { name: 'later', after: 0.05 }),
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
  const news = (): string[] => receiver.requests.flatMap(({ body }) => readNews(body)).toSorted();
  await fire(one.url, 'a');
  await fire(other.url, 'b');
  await waitUntil('both are told to both', () => news().length === 4, 40_000);
  assert.equal(new Set(news()).size, 2);
  // Which of them sends is what only the database says; both are killed in turn.
  for (const [index, [killed, left]] of [[one, other] as const, [other, one] as const].entries()) {
    const count = news().length;
    await killed.stop('SIGKILL');
    const begun = performance.now();
    await fire(left.url, `c${index}`);
    await waitUntil('the other one notifies', () => news().length >= count + 2, longestTakeoverMs);
    t.diagnostic(`told ${((performance.now() - begun) / 1000).toFixed(1)} s after kill -9`);
    await killed.start();
  }
  const token = await tokenOf(one.url);
  const answer = await fetch(`${one.url}/api/notifications?limit=100`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { count } = (await answer.json()) as { count: number };
  assert.equal(count, news().length);
});
