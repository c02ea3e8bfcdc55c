import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { waitForIncident } from '../incidents/support/incidents.ts';
import { sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { waitUntilPasses } from '../support/wait.ts';

const skip = toSkipPostgres();

test('instances that share a database show the same snapshot, and take one of an incident', { skip }, async (t) => {
  const settings = { store: await createDatabase(t), timeZone: 'UTC' };
  const [one, two] = [
    await startApp(t, { settings: { ...settings, instanceName: 'one' } }),
    await startApp(t, { settings: { ...settings, instanceName: 'two' } }),
  ];
  const token = await one.login('reader');
  await sendAlert(one, { level: 'ERROR', message: 'the demo has failed', hostname: hostname() });
  const ask = async ({ request }: typeof one) => request('GET', '/api/incidents/1/snapshot', { token });
  await waitUntilPasses(async () => {
    for (const app of [one, two]) assert.equal((await ask(app)).status, 200);
    const shown = await waitForIncident(one, { number: 1 });
    assert.notEqual(shown.snapshot, null);
    await waitForIncident(two, { number: 1, snapshot: shown.snapshot });
  });
  assert.equal((await ask(two)).text, (await ask(one)).text);
  // However many have tried, the timeline says it once.
  const { json } = await two.request<{ timeline: { type: string }[] }>('GET', '/api/incidents/1');
  assert.deepEqual(
    json.timeline.map(({ type }) => type),
    ['opened', 'snapshotTaken'],
  );
});
