import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from '../../../../test/support/alert-samples.ts';
import { readRecords } from '../../../../test/support/alerts.ts';
import { startApp } from '../../../../test/support/app.ts';

/** Appends a lone surrogate to each label name and each text without a fixed format. */
const spoil = (value: unknown, name = ''): unknown => {
  if (typeof value === 'string')
    return /^(?:status|event_action|specversion|color)$|At$|Time|time|Nano/.test(name) ? value : `${value}\ud83d`;
  if (Array.isArray(value)) return value.map((member) => spoil(member, name));
  if (typeof value !== 'object' || value === null) return value;
  const suffix = name === 'labels' || name === 'custom_details' ? '\ude00' : '';
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [`${key}${suffix}`, spoil(member, key)]));
};

const native = {
  source: 'shop',
  level: 'ERROR',
  message: 'cannot send the receipt ',
  hostname: 'web-1',
  key: 'shop',
  labels: { team: 'db' },
  details: 'more',
};

const paths = Object.entries(samples).map(([name, sample]) => [`/api/alert/${name}`, sample] as const);

for (const [path, sample] of [['/api/alert', native], ['/api/v2/alerts', samples.prometheus], ...paths] as const) {
  test(`half a surrogate pair in a text is stored as U+FFFD at ${path}`, async (t) => {
    const app = await startApp(t);
    const body = JSON.stringify(spoil(sample));
    assert.match(body, /\\ud83d/);
    assert.ok((await app.request('POST', path, { body })).status < 300);
    const stored = JSON.stringify(await readRecords(app));
    assert.doesNotMatch(stored, /\\u[dD][89a-fA-F]/);
    assert.match(stored, /\ufffd/);
  });
}

test('surrogate pairs, and text that only looks like an escape, are not changed', async (t) => {
  const app = await startApp(t);
  const body = String.raw`{"source": "a", "message": "\ud83d\ude00 \uD83D\uDE00 \\ud83d \\\ud83d \ude00\ud83d \u00e9"}`;
  assert.equal((await app.request('POST', '/api/alert', { body })).status, 200);
  const [record] = await readRecords(app);
  assert.equal(record?.['message'], '😀 😀 \\ud83d \\\ufffd \ufffd\ufffd é');
});

test('a cut key does not end with half a surrogate pair', async (t) => {
  const app = await startApp(t);
  for (const offset of [0, 1]) {
    const key = `${'x'.repeat(offset)}${'😀'.repeat(200)}`;
    assert.equal((await app.request('POST', '/api/alert', { body: { message: 'a', key } })).status, 200);
  }
  for (const { fingerprint } of await readRecords(app)) assert.ok(String(fingerprint).isWellFormed());
});

test('half a surrogate pair in settings, comments and pings is stored as U+FFFD', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const send = async (method: string, path: string, body: unknown): Promise<void> => {
    const { status, text } = await app.request(method, path, { token, body: JSON.stringify(body) });
    assert.ok(status < 300, `${path}: ${text}`);
  };
  const half = 'x\ud83d';
  await send('POST', '/api/alert', { message: half, level: 'ERROR' });
  await send('POST', '/api/incidents/1/comment', { comment: half });
  await send('POST', '/api/silences', { match: { source: half }, comment: half, endsAt: '2036-01-01T00:00:00Z' });
  await send('PUT', '/api/heartbeats/job', { period: 3600, description: half });
  assert.equal((await app.request('POST', '/ping/job/fail', { token, body: half })).status, 200);
  for (const path of ['/api/incidents/1', '/api/silences', '/api/heartbeats/job', '/api/alerts/search']) {
    const { text } = await app.request('GET', path, { token });
    assert.doesNotMatch(text, /\\u[dD][89a-fA-F]/, path);
    assert.ok(text.includes('x\ufffd'), path);
  }
});
