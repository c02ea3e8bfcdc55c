import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readNotificationTexts, toIncidentDestination } from '../../support/notifications.ts';
import { toSkipPostgres } from '../../support/postgres/installation.ts';
import { createDatabase } from '../../support/postgres/shared-server.ts';
import { startReceiver } from '../../support/receiver.ts';
import { waitUntil } from '../../support/wait.ts';
import { startInstances } from './support/instances.ts';

const patienceMs = 60_000;
const names = ['first', 'second', 'third'] as const;

interface Read {
  escalation: { next: object | null } | null;
  timeline: { type: string; step: number | null }[];
}

test('an escalation continues when one of two instances is killed', {
  skip: toSkipPostgres(),
}, async (t) => {
  const receiver = await startReceiver(t);
  const settings = {
    destinations: names.map((name) => toIncidentDestination(receiver, { name, url: `${receiver.url}/${name}` })),
    escalationPolicies: [
      { name: 'ops', steps: names.map((name) => ({ notify: [`destination:${name}`], wait: '4 seconds' })) },
    ],
    escalationRouting: { rules: [], default: 'ops' },
  };
  const { all } = await startInstances(t, { store: await createDatabase(t), settings });
  const [one, other] = all;
  assert.ok(other);
  const isNotified = (name: string) => () => receiver.requests.some(({ path }) => path === `/${name}`);
  const body = JSON.stringify({ key: 'disk', level: 'ERROR', message: 'disk' });
  assert.equal((await fetch(`${one.url}/api/alert`, { method: 'POST', body })).status, 200);
  await waitUntil('the first step notifies', isNotified('first'), patienceMs);
  // Only the database knows which instance takes the steps, so both are killed in turn.
  await one.stop('SIGKILL');
  await waitUntil('the second step notifies', isNotified('second'), patienceMs);
  await one.start();
  await other.stop('SIGKILL');
  await waitUntil('the third step notifies', isNotified('third'), patienceMs);
  const read = async (): Promise<Read> => (await (await fetch(`${one.url}/api/incidents/1`)).json()) as Read;
  await waitUntil('the policy has ended', async () => (await read()).escalation?.next === null, patienceMs);
  const steps = (await read()).timeline.flatMap(({ type, step }) => (type === 'addressed' ? [step] : []));
  assert.deepEqual(steps, [1, 2, 3]);
  const ids = new Map(
    receiver.requests.map(({ path, headers, body: sent }) => [
      `${path} ${headers['webhook-id']}`,
      readNotificationTexts(sent).join(),
    ]),
  );
  assert.deepEqual([...ids.values()], Array(3).fill('opened #1 disk'));
});
