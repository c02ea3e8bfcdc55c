import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Incident } from '../../src/features/incidents/schema.ts';
import { findMissing, findPort, startPeer } from '../lab/peers/peer.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { waitUntilPasses } from '../support/wait.ts';
import { listIncidents } from './support/incidents.ts';

type Destination = (url: string) => object;

const template = {
  source: '{source}',
  level: '{level}',
  message: '{message}',
  hostname: '{hostname}',
  key: '{key}',
  status: '{status}',
};

/** Types of destinations that forward alerts and their resolutions to another signalbox. */
const types: Record<string, Destination> = {
  webhook: (url) => ({ type: 'webhook', url: `${url}/api/alert` }),
  alertmanager: (url) => ({ type: 'alertmanager', url }),
  template: (url) => ({
    type: 'template',
    url: `${url}/api/alert`,
    body: JSON.stringify(template),
  }),
};

const startSender = (t: TestContext, destination: object): Promise<TestApp> =>
  startApp(t, { settings: { destinations: [{ name: 'central', ...destination }] } });

const send = async (app: TestApp, body: object): Promise<void> => {
  assert.equal((await app.request('POST', '/api/alert', { body })).status, 200);
};

const waitForIncidents = async (app: TestApp, expected: Partial<Incident>[]): Promise<void> =>
  waitUntilPasses(async () => {
    const { data } = await listIncidents(app, '?state=all');
    const sorted = data.toSorted((one, other) => one.number - other.number);
    assert.equal(sorted.length, expected.length, JSON.stringify(sorted));
    for (const [index, fields] of expected.entries()) {
      const names = Object.keys(fields) as (keyof Incident)[];
      assert.deepEqual(Object.fromEntries(names.map((name) => [name, sorted[index]?.[name]])), fields);
    }
  }, 30_000);

/** Alert without a host name, sent by two senders, and alert of one machine with labels. */
const anonymous = { source: 'backup', level: 'ERROR', message: 'the backup has failed', key: 'backup' };
const labelled = { ...anonymous, key: 'disk', hostname: 'web-1', message: 'the disk is full', labels: { team: 'db' } };
const resolved = { status: 'resolved', level: 'INFO' };

for (const [name, toDestination] of Object.entries(types)) {
  test(`a resolution that ${name} forwards to another signalbox resolves only the alert of its sender`, async (t) => {
    const central = await startApp(t);
    const one = await startSender(t, toDestination(central.url));
    const other = await startSender(t, toDestination(central.url));
    await send(one, anonymous);
    await waitForIncidents(central, [{ state: 'open' }]);
    await send(other, anonymous);
    await waitForIncidents(central, [{ state: 'open' }, { state: 'open' }]);
    await send(one, { ...anonymous, ...resolved, message: 'the backup is fine' });
    await waitForIncidents(central, [{ state: 'resolved' }, { state: 'open' }]);
    await send(one, labelled);
    const host = { hostname: 'web-1', level: 'ERROR' } as const;
    await waitForIncidents(central, [{ state: 'resolved' }, { state: 'open' }, { state: 'open', ...host }]);
    await send(one, { ...labelled, ...resolved, message: 'the disk has space' });
    await waitForIncidents(central, [{ state: 'resolved' }, { state: 'open' }, { state: 'resolved', ...host }]);
  });
}

test('a resolution that alertmanager forwards resolves its alert, although labels, host name and source differ', async (t) => {
  const central = await startApp(t);
  const sender = await startSender(t, { type: 'alertmanager', url: central.url });
  await send(sender, labelled);
  await send(sender, { ...labelled, hostname: 'web-2', key: 'disk 2' });
  const [one, two] = [{ hostname: 'web-1' }, { hostname: 'web-2' }];
  await waitForIncidents(central, [one, two]);
  await send(sender, { ...resolved, source: 'check', key: 'disk', message: 'the disk has space' });
  await waitForIncidents(central, [
    { ...one, state: 'resolved', title: 'the disk is full' },
    { ...two, state: 'open' },
  ]);
});

test('alertmanager forwards severity, host name and labels, and marks the message of a resolution once', async (t) => {
  const central = await startApp(t);
  const sender = await startSender(t, { type: 'alertmanager', url: central.url });
  await send(sender, { ...labelled, level: 'CRITICAL' });
  const labels = { alertname: 'backup', severity: 'critical', instance: 'web-1', team: 'db' };
  const title = 'the disk is full';
  await waitForIncidents(central, [{ state: 'open', level: 'CRITICAL', hostname: 'web-1', title, labels }]);
  const body = [{ labels: { alertname: 'Down' }, annotations: { summary: 'web-2 is down' } }];
  const end = new Date(Date.now() - 1000).toISOString();
  for (const endsAt of [undefined, end]) {
    await sender.request('POST', '/api/v2/alerts', { body: body.map((alert) => ({ ...alert, endsAt })) });
  }
  await waitForIncidents(central, [{ title }, { state: 'resolved', title: 'web-2 is down' }]);
  const { json } = await central.request<{ data: { message: string }[] }>('GET', '/api/alerts/search?status=resolved');
  const messages = new Set(json.data.map(({ message }) => message));
  assert.deepEqual([...messages], ['Resolved: web-2 is down']);
});

test('an incident that alertmanager forwards to another signalbox is resolved there', async (t) => {
  const central = await startApp(t);
  const incidents = { notify: 'incidents', groupSeconds: 0 };
  const sender = await startSender(t, { type: 'alertmanager', url: central.url, ...incidents });
  await send(sender, anonymous);
  await waitForIncidents(central, [{ state: 'open', level: 'ERROR', title: 'the backup has failed' }]);
  await send(sender, { ...anonymous, ...resolved, message: 'the backup is fine' });
  await waitForIncidents(central, [{ state: 'resolved', title: 'the backup has failed' }]);
});

test('an alert that goes through a real Alertmanager to another signalbox is resolved there', {
  skip: findMissing('prometheus-alertmanager'),
}, async (t) => {
  const central = await startApp(t);
  const folder = createFolder(t);
  const url = `http://127.0.0.1:${await findPort()}`;
  const route = { receiver: 'central', group_by: ['...'], group_wait: '0s', group_interval: '1s' };
  const webhook = { url: `${central.url}/api/alert/alertmanager`, send_resolved: true };
  const file = join(folder, 'alertmanager.json');
  await writeFile(file, JSON.stringify({ route, receivers: [{ name: 'central', webhook_configs: [webhook] }] }));
  const args = [`--config.file=${file}`, `--storage.path=${folder}`, `--web.listen-address=${new URL(url).host}`];
  await startPeer(t, 'prometheus-alertmanager', [...args, '--cluster.listen-address='], `${url}/-/ready`);
  const one = await startSender(t, { type: 'alertmanager', url });
  const other = await startSender(t, { type: 'alertmanager', url });
  await send(one, anonymous);
  await waitForIncidents(central, [{ state: 'open', level: 'ERROR', title: 'the backup has failed' }]);
  await send(other, anonymous);
  await waitForIncidents(central, [{ state: 'open' }, { state: 'open' }]);
  await send(one, { ...anonymous, ...resolved, message: 'the backup is fine' });
  await waitForIncidents(central, [{ state: 'resolved', title: 'the backup has failed' }, { state: 'open' }]);
});
