import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { sendAlert } from '../../../../test/support/alerts.ts';
import { startOutbox, toDestination, waitForRequests } from '../../../../test/support/outbox.ts';
import { type Received, startReceiver } from '../../../../test/support/receiver.ts';
import type { DeliveredAlert } from '../message/alert.ts';
import { toOutgoing } from '../message/outgoing.ts';
import { truncate } from '../message/plain-text.ts';
import { destinationTypes } from '../settings.ts';
import { alertmanagerDestination as alertmanager } from './alertmanager.ts';

const secrets = [1, 2].map((n) => `whsec_${Buffer.alloc(32, n).toString('base64')}`);
const alert = { source: 'backup', level: 'ERROR', message: 'the disk is full <é>', hostname: 'web-1' };

/** Returns the request that a destination sends for the alert. */
const deliver = async (t: Parameters<typeof startReceiver>[0], changes: object, path = '', fields = {}) => {
  const receiver = await startReceiver(t);
  const app = await startOutbox(t, [toDestination(receiver, { url: `${receiver.url}${path}`, ...changes })]);
  const id = await sendAlert(app, { ...alert, ...fields });
  await waitForRequests(receiver, 1);
  const [request] = receiver.requests;
  assert.ok(request);
  assert.equal(request.method, 'POST');
  assert.match(String(request.headers['via']), /^signalbox\/[0-9a-f]{16}$/);
  return { id, request, json: () => JSON.parse(request.body) };
};

const verify = ({ body, headers }: Received, secret: string): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>);

test('a webhook is signed according to Standard Webhooks, with both secrets', async (t) => {
  const { id, request } = await deliver(t, { secret: secrets }, '/in?x=1');
  assert.equal(request.path, '/in?x=1');
  assert.equal(request.headers['content-type'], 'application/json');
  assert.equal(request.headers['webhook-id'], id);
  for (const secret of secrets) {
    const { type, timestamp, via, ...rest } = verify(request, secret) as Record<string, unknown>;
    assert.equal(type, 'alert');
    assert.ok(Math.abs(Date.parse(String(timestamp)) - Date.now()) < 60_000);
    assert.equal(via, request.headers['via']);
    assert.deepEqual(rest, { id, ...alert, severity: 'ERROR', format: 'native' });
  }
  assert.throws(() => verify(request, `whsec_${Buffer.alloc(32, 3).toString('base64')}`));
  assert.throws(() => verify({ ...request, body: `${request.body} ` }, secrets[0] ?? ''));
});

test('a webhook without a secret is not signed', async (t) => {
  const { request } = await deliver(t, {});
  assert.equal(request.headers['webhook-signature'], undefined);
  assert.ok(request.headers['webhook-id']);
});

test('ntfy gets the message as body, and title, priority and tags as headers', async (t) => {
  const { request } = await deliver(t, { type: 'ntfy', secret: 'tk_1' }, '/alerts');
  assert.equal(request.path, '/alerts');
  assert.equal(request.body, alert.message);
  const { title, priority, tags, authorization } = request.headers;
  assert.deepEqual(
    { title, priority, tags, authorization },
    {
      title: 'ERROR backup on web-1',
      priority: '4',
      tags: 'x',
      authorization: 'Bearer tk_1',
    },
  );
});

test('gotify gets title, message and priority at /message, with the token in a header', async (t) => {
  const { request, json } = await deliver(t, { type: 'gotify', secret: 'A1' }, '/gotify/');
  assert.equal(request.path, '/gotify/message');
  assert.equal(request.headers['x-gotify-key'], 'A1');
  assert.deepEqual(json(), { title: 'ERROR backup on web-1', message: alert.message, priority: 8 });
});

test('slack gets a text in which nothing is a link or a mention', async (t) => {
  const { request, json } = await deliver(t, { type: 'slack' }, '/services/T0/B0/x');
  assert.equal(request.path, '/services/T0/B0/x');
  assert.deepEqual(json(), { text: '*ERROR backup on web-1*\nthe disk is full &lt;é&gt;' });
});

test('apprise gets title, body and type', async (t) => {
  const { request, json } = await deliver(t, { type: 'apprise' }, '/notify/key');
  assert.equal(request.path, '/notify/key');
  const expected = { title: 'ERROR backup on web-1', body: alert.message, type: 'failure', format: 'text' };
  assert.deepEqual(json(), expected);
});

test('alertmanager gets a list of one alert at /api/v2/alerts', async (t) => {
  const { request, json } = await deliver(t, { type: 'alertmanager' });
  assert.equal(request.path, '/api/v2/alerts');
  const [{ startsAt, ...first }, ...more] = json();
  assert.ok(Math.abs(Date.parse(startsAt) - Date.now()) < 60_000);
  assert.deepEqual(first, {
    labels: { alertname: 'backup', severity: 'error', instance: 'web-1' },
    annotations: { summary: alert.message, via: request.headers['via'] },
  });
  assert.deepEqual(more, []);
});

const foreign: DeliveredAlert = {
  id: '0',
  time: '2026-01-31T10:00:00.000+01:00',
  source: 'Disk',
  level: 'ERROR',
  severity: 'ERROR',
  message: 'full\nvery',
  hostname: 'h',
  format: 'prometheus',
  status: 'firing',
  startsAt: '2026-01-31T08:00:00Z',
  labels: { alertname: 'Disk', 'a.b': 'x', '1st': 'y', empty: '' },
  link: 'https://example.org/a|b',
  via: 'signalbox/0123456789abcdef',
};

const toEntry = (changes: Partial<DeliveredAlert>) => {
  const place = { url: new URL('http://h/am/api/v2/alerts'), secrets: [], settings: {}, headers: {}, trust: {} };
  const request = alertmanager.toRequest?.(toOutgoing({ ...foreign, ...changes }), place, new Date());
  assert.ok(request);
  assert.equal(request.path, '/am/api/v2/alerts');
  return JSON.parse(request.body)[0];
};

test('alertmanager gets the labels of the sender and the end of the alert', () => {
  const { labels, startsAt, endsAt, generatorURL } = toEntry({});
  assert.deepEqual(labels, { alertname: 'Disk', severity: 'error', instance: 'h', a_b: 'x', _1st: 'y' });
  assert.deepEqual([startsAt, endsAt, generatorURL], [foreign.startsAt, '2026-02-01T10:00:00.000Z', foreign.link]);
  assert.equal(toEntry({ status: 'resolved', endsAt: '2026-01-31T09:00:00Z' }).endsAt, '2026-01-31T09:00:00Z');
  assert.equal(toEntry({ status: 'resolved' }).endsAt, foreign.time);
  assert.equal(toEntry({ status: 'resolved', endsAt: '2020-01-01T00:00:00Z' }).endsAt, foreign.startsAt);
});

test('repeated requests of every type differ only in the sending time, and are valid HTTP', () => {
  const secrets = ['whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'];
  const place = { url: new URL('http://h/'), secrets, settings: { body: '{message}' }, headers: {}, trust: {} };
  const odd = { ...foreign, source: 'ü\r\n\u0000', message: '', level: '', hostname: '😀'.repeat(2000), link: 'x\ny' };
  for (const type of destinationTypes) {
    for (const one of [foreign, odd]) {
      const [first, second] = [0, 1e9].map((ms) => type.toRequest?.(toOutgoing(one), place, new Date(ms)));
      assert.equal(first?.body, second?.body);
      assert.notEqual(first?.body, '');
      for (const value of Object.values(first?.headers ?? {})) assert.match(value, /^[\x20-\x7e]*$/);
    }
  }
});

test('a text is cut at a whole character', () => {
  assert.equal(truncate('abc', 3), 'abc');
  assert.equal(truncate('abcdef', 5), 'ab…');
  assert.equal(truncate('ééééé', 8), 'éé…');
  assert.equal(truncate('😀😀😀', 10), '😀…');
});

test('for any alert, the title is one line without control characters', async (t) => {
  const source = 'disk\u0000\u0085\u202e\nfull\uffff';
  const { request } = await deliver(t, { type: 'ntfy' }, '/alerts', { source, hostname: '' });
  assert.equal(request.headers['title'], `${request.headers['title']}`.replaceAll(/[^\x20-\x7e]/g, ''));
  assert.match(String(request.headers['title']), /^\w+ disk full ?$/);
});
