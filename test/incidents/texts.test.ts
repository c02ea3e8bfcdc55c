import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { adminToken } from '../support/outbox.ts';
import { runCommand } from '../support/program.ts';
import { startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait.ts';
import { type Asked, readIncident, waitForIncident } from './support/incidents.ts';

const readDetails = async (app: Asked): Promise<string | null> =>
  ((await readIncident(app, 1)) as unknown as { details: string | null }).details;

const post = async (app: Asked, path: string, body: unknown): Promise<void> => {
  const { status, text } = await app.request('POST', path, { body });
  assert.equal(status, 200, text);
};

test('an incident keeps the title of the firing alert when the message of the resolution differs', async (t) => {
  const intake = [{ name: 'own', message: '{/text}', key: '{/id}', status: '{/status}', source: 'own' }];
  const toGrafana = (status: string, annotations: object) => ({
    status,
    orgId: 1,
    receiver: 'signalbox',
    title: status,
    alerts: [{ status, labels: { alertname: 'CPU', instance: 'db-1' }, annotations, fingerprint: 'f1' }],
  });
  const senders: Record<string, [path: string, firing: object, end: object]> = {
    native: [
      '/api/alert',
      { key: 'backup', level: 'ERROR', message: 'true failed with exit code 1 after 2 s' },
      { key: 'backup', level: 'INFO', message: 'true succeeded after 0 s', status: 'resolved' },
    ],
    grafana: [
      '/api/alert/grafana',
      toGrafana('firing', { summary: 'the processor is busy' }),
      toGrafana('resolved', {}),
    ],
    own: [
      '/api/alert/own',
      { id: '7', text: 'the build is broken', status: 'firing' },
      { id: '7', text: 'the build passes', status: 'resolved' },
    ],
  };
  for (const [name, [path, firing, end]] of Object.entries(senders)) {
    const app = await startApp(t, { settings: { intake } });
    await post(app, path, firing);
    const { title, hostname, source } = await waitForIncident(app, { state: 'open' });
    await post(app, path, end);
    await waitForIncident(app, { state: 'resolved', title, hostname, source });
    assert.doesNotMatch(title, /Resolved|succeeded/, name);
  }
});

test('the incident and the notification of a heartbeat have its description and its output, and the title stays after the resolution', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startApp(t, {
    settings: {
      heartbeats: [{ name: 'backup', period: 3600, description: 'Nightly dump of the shop' }],
      destinations: [{ name: 'pager', type: 'webhook', url: receiver.url, notify: 'incidents', groupSeconds: 0 }],
    },
  });
  const token = await adminToken(app);
  const ping = async (signal: string, body: string) =>
    assert.equal((await app.request('POST', `/ping/backup/${signal}`, { token, body })).status, 200);
  await ping('1', 'dumping\nno space left on device');
  const title = 'Heartbeat backup failed with exit code 1';
  await waitForIncident(app, { state: 'open', title });
  const expected = 'Nightly dump of the shop\n\ndumping\nno space left on device';
  assert.equal(await readDetails(app), expected);
  await waitUntil('the receiver has the notification', () => receiver.requests.length > 0);
  assert.ok(JSON.parse(receiver.requests[0]?.body ?? '').data.message.body.includes(expected));
  await ping('0', 'done');
  await waitForIncident(app, { state: 'resolved', title });
  assert.equal(await readDetails(app), expected);
});

test('the title of an incident is the first line of a message, and the lines below are its details', async (t) => {
  const app = await startApp(t);
  const message = 'backup.sh failed with exit code 2 after 3 s:\nconnecting\nno route to host';
  await sendAlert(app, { key: 'backup', level: 'ERROR', message });
  await waitForIncident(app, { title: 'backup.sh failed with exit code 2 after 3 s' });
  assert.equal(await readDetails(app), 'connecting\nno route to host');
});

test('a resolution in the body of its alert has the id of the alert', async (t) => {
  const app = await startApp(t);
  const alert = {
    labels: { alertname: 'Down', severity: 'error' },
    fingerprint: 'f',
    startsAt: '2026-01-31T08:30:00Z',
  };
  const alerts = ['firing', 'resolved'].map((status) => ({ ...alert, status }));
  const { json } = await app.request<{ ids: string[] }>('POST', '/api/alert/alertmanager', {
    body: { version: '4', alerts },
  });
  const [firing = '', end = ''] = json.ids;
  await waitForIncident(app, { state: 'resolved' });
  const read = async (id: string) => (await app.request('GET', `/api/alerts/${id}`)).json;
  assert.equal((await read(end))['resolves'], firing);
  assert.deepEqual((await read(firing))['resolvedBy'], { id: end, time: (await read(end))['time'] });
});

test('the command line and the report of an incident show notifications and readable names of senders', async (t) => {
  const receiver = await startReceiver(t);
  const settings = {
    destinations: [{ name: 'pager', type: 'webhook', url: receiver.url, notify: 'incidents', groupSeconds: 0 }],
  };
  const app = await startApp(t, { settings });
  const token = await adminToken(app);
  const { json } = await app.request('POST', '/api/keys', { token, body: { name: 'backup', scope: 'alerts:write' } });
  const body = { key: 'backup', level: 'ERROR', message: 'the backup has failed' };
  await app.request('POST', '/api/alert', { token: String(json['key']), body });
  await waitForIncident(app, { state: 'open' });
  await waitUntil('pager was notified', async () =>
    (await readIncident(app, 1)).timeline.some(({ destination }) => destination === 'pager'),
  );
  const variables = { SIGNALBOX_URL: app.url };
  const { stdout } = await runCommand(['incident', '1'], { variables });
  assert.match(stdout, /notified +pager +ERROR opened/);
  const { stdout: report } = await runCommand(['incident', '1', '--report'], { variables });
  assert.match(report, /\|Sender\|the key backup\|/);
  assert.match(report, /\*\*opened\*\* ERROR by the key backup/);
  assert.doesNotMatch(report, /key:|destination:/);
});
