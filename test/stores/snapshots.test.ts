import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { waitForIncident } from '../incidents/support/incidents.ts';
import { requires } from '../lab/faults/support/requirements.ts';
import { sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { passwords, secret } from '../support/credentials.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { startProgram } from '../support/program.ts';
import { createClaims, signToken } from '../support/tokens.ts';
import { waitUntilPasses } from '../support/wait.ts';

const skip = toSkipPostgres();

test('instances that share a database take one snapshot of an incident, and all show it', { skip }, async (t) => {
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
  // The timeline has one entry, however many instances tried to add it.
  const { json } = await two.request<{ timeline: { type: string }[] }>('GET', '/api/incidents/1');
  assert.deepEqual(
    json.timeline.map(({ type }) => type),
    ['opened', 'snapshotTaken'],
  );
});

const uts = requires({ programs: ['unshare', 'hostname'], mounts: true });
test('the instance on the machine of the incident takes the snapshot', {
  skip: skip || uts.skip,
}, async (t) => {
  const store = await createDatabase(t);
  const start = (machine: string) =>
    startProgram(t, ['--time-zone', 'UTC'], {
      wrapper: ['unshare', '--uts', 'sh', '-c', `hostname ${machine} && exec "$@"`, 'sh'],
      variables: {
        SIGNALBOX_JWT_SECRET: secret,
        SIGNALBOX_STORE: store,
        SIGNALBOX_ADMIN_PASSWORD: passwords.admin,
        SIGNALBOX_READER_PASSWORD: passwords.reader,
      },
    });
  const [one] = [await start('db-1'), await start('web-1')];
  const body = { level: 'ERROR', message: 'the demo has failed', hostname: 'web-1' };
  assert.equal((await one.request('POST', '/api/alert', { body })).status, 200);
  const token = signToken(createClaims());
  await waitUntilPasses(async () => {
    const { status, json } = await one.request('GET', '/api/incidents/1/snapshot', { token });
    assert.deepEqual([status, json['hostname']], [200, 'web-1']);
  });
});
