import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { createResolution, createUpdate, openedAt } from '../../../../test/support/incident-messages.ts';
import { startReceiver } from '../../../../test/support/receiver.ts';
import { createIncidentMessage, type IncidentUpdate } from '../message/message.ts';
import { toDestinationDefinition } from './definition.ts';
import { openTransport } from './transport.ts';

const publicUrl = 'https://signalbox.example.org';
const acknowledgeUrl = `${publicUrl}/api/acknowledge/t0ken`;
const link = `${publicUrl}/console/#/incidents/412`;
const instance = 'signalbox/0123456789abcdef';

/** Returns the request that a destination sends for updates. */
const tell = async (t: Parameters<typeof startReceiver>[0], settings: object, ...updates: IncidentUpdate[]) => {
  const receiver = await startReceiver(t);
  const target = toDestinationDefinition({ name: 'hook', type: 'webhook', url: `${receiver.url}/x`, ...settings });
  const transport = await openTransport(target, 1, () => new Date());
  t.after(() => transport.close());
  const message = createIncidentMessage(updates, { publicUrl, toAcknowledgeUrl: () => acknowledgeUrl, instance });
  assert.equal((await transport.send(message)).outcome.kind, 'delivered');
  const [request] = receiver.requests;
  assert.ok(request);
  return { message, request, json: () => JSON.parse(request.body) };
};

const hostile = { title: 'a <!channel> & <https://evil.example|x>', hostname: '' };

/** Returns the properties of an open incident as they appear in a webhook. */
const toFacts = ({ what, incident }: IncidentUpdate): object => {
  const { id, number, about: key, state, level, highestLevel, title, source, hostname, sender, labels } = incident;
  const at = new Date(openedAt).toISOString();
  return {
    what,
    id,
    number,
    key,
    state,
    level,
    highestLevel,
    title,
    source,
    hostname,
    sender,
    labels,
    link: null,
    count: 3,
    firstAt: at,
    lastAt: at,
    stateSince: at,
    acknowledgedBy: null,
    acknowledgedAt: null,
    acknowledgedUntil: null,
    acknowledgedComment: null,
    resolvedBy: null,
    resolvedAt: null,
    resolvedReason: null,
    reopened: 0,
    version: 1,
  };
};

test('a signed webhook has the type, the incident, the message and the link to acknowledge', async (t) => {
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  const update = createUpdate();
  const { message, request } = await tell(t, { secret }, update);
  const payload = new Webhook(secret).verify(request.body, request.headers as Record<string, string>);
  assert.deepEqual(payload, {
    type: 'incident.opened',
    timestamp: message.time,
    id: message.id,
    via: instance,
    data: {
      message: { title: message.title, body: message.body, severity: 'CRITICAL' },
      link,
      acknowledgeUrl,
      incidents: [toFacts(update)],
    },
  });
  assert.equal(request.headers['webhook-id'], message.id);
  assert.equal((await tell(t, {}, createResolution())).json().type, 'incident.resolved');
});

test('ntfy shows buttons that acknowledge without a page and open the incident', async (t) => {
  const { message, request } = await tell(t, { type: 'ntfy' }, createUpdate({ title: 'é\r\nx: y' }));
  assert.equal(request.body, message.body);
  assert.deepEqual(JSON.parse(String(request.headers['actions'])), [
    {
      action: 'http',
      label: 'Acknowledge',
      url: acknowledgeUrl,
      method: 'POST',
      headers: { Accept: 'application/json' },
      clear: true,
    },
    { action: 'view', label: 'Open', url: link },
  ]);
  assert.equal(request.headers['click'], link);
  assert.equal(request.headers['priority'], '5');
  assert.match(String(request.headers['title']), /^=\?UTF-8\?B\?[\w+/=]+\?=$/);
  const resolved = await tell(t, { type: 'ntfy' }, createResolution());
  assert.deepEqual(JSON.parse(String(resolved.request.headers['actions'])), [
    { action: 'view', label: 'Open', url: link },
  ]);
  assert.equal(resolved.request.headers['tags'], 'white_check_mark');
});

test('slack gets links, and nothing of an incident is a link or a mention', async (t) => {
  const { json } = await tell(t, { type: 'slack' }, createUpdate(hostile));
  const { text, unfurl_links } = json();
  const [title, ...lines] = text.split('\n');
  assert.equal(title, '*CRITICAL #412 a &lt;!channel&gt; &amp; &lt;https://evil.example|x&gt;*');
  assert.equal(lines.at(-1), `<${acknowledgeUrl}|Acknowledge> · <${link}|Open>`);
  assert.equal(unfurl_links, false);
});

test('no text of an incident mentions everybody in Mattermost, Rocket.Chat or services of Apprise', async (t) => {
  const update = createUpdate({
    title: 'all@example.org @all @Here [x](https://evil.example) [y]: z',
    hostname: '',
  });
  const { text } = (await tell(t, { type: 'slack' }, update)).json();
  assert.match(text, /all@example\.org @\u200ball @\u200bHere \[x\]\u200b\(https:\/\/evil\.example\) \[y\]\u200b: z/);
  const apprise = (await tell(t, { type: 'apprise' }, update)).json();
  assert.match(apprise.title, /all@example\.org @\u200ball @\u200bHere /);
});

test('gotify and apprise get the link to acknowledge in a text of any length', async (t) => {
  const alert = { seq: 1, id: 'x', crc: '', message: 'm', details: 'd'.repeat(100_000) };
  const long = createUpdate({}, { alert });
  const gotify = (await tell(t, { type: 'gotify', secret: 'A1' }, long)).json();
  assert.ok(gotify.message.endsWith(`…\n\nAcknowledge: ${acknowledgeUrl}`));
  assert.ok(Buffer.byteLength(gotify.message) <= 16 * 1024);
  assert.deepEqual(gotify.extras, { 'client::notification': { click: { url: link } } });
  const apprise = (await tell(t, { type: 'apprise' }, createUpdate())).json();
  assert.ok(apprise.body.endsWith(`\n\nAcknowledge: ${acknowledgeUrl}\n\nOpen: ${link}`));
  assert.equal((await tell(t, { type: 'apprise' }, createResolution())).json().type, 'success');
});

test('alertmanager gets one alert for an incident, and its resolution ends every severity', async (t) => {
  const listOf = async (one: IncidentUpdate) => (await tell(t, { type: 'alertmanager' }, one)).json();
  const [opened, ...none] = await listOf(createUpdate({ level: 'WARNING', highestLevel: 'WARNING' }));
  assert.deepEqual(none, []);
  assert.deepEqual(opened.labels, { alertname: 'backup', severity: 'warning', instance: 'db-1', incident: '412' });
  assert.ok(Date.parse(opened.endsAt) > openedAt + 24 * 3_600_000);
  assert.deepEqual([opened.generatorURL, opened.annotations.summary], [link, 'disk full']);
  const [raised, ended] = await listOf(createUpdate({}, { what: 'raised' }));
  assert.equal(raised.labels.severity, 'critical');
  assert.ok(Date.parse(raised.endsAt) > openedAt);
  assert.deepEqual([ended.labels.severity, Date.parse(ended.endsAt)], ['error', openedAt]);
  const resolved = await listOf(createResolution());
  assert.deepEqual(
    resolved.map((one: typeof opened) => [one.labels.severity, Date.parse(one.endsAt)]),
    ['critical', 'error', 'warning', 'info'].map((severity) => [severity, openedAt + 42 * 60_000]),
  );
  const own = await listOf(createResolution({ labels: { alertname: 'Disk', severity: 'page' } }));
  assert.deepEqual(
    own.map((one: typeof opened) => one.labels),
    [{ alertname: 'Disk', severity: 'page', instance: 'db-1', incident: '412' }],
  );
});
