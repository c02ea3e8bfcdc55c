import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitForIncident } from '../incidents/support/incidents.ts';
import { sendAlert } from '../support/alerts.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { onePage, putPage } from './support/pages.ts';

interface Shown {
  id: string;
  state: string;
  incident: number;
  updates: { text: string; state: string; by: string }[];
}

const first = { page: 'main', title: 'Slow responses', text: 'We are looking into it.', state: 'investigating' };

/** Opens an incident and announces it. */
const announce = async (app: TestApp, token: string, body: object = first) => {
  await sendAlert(app, { source: 'db-7', message: 'secret inside text', hostname: 'db-7.internal' });
  const { number } = await waitForIncident(app, { state: 'open' });
  return app.request<Shown>('POST', `/api/incidents/${number}/announcements`, { token, body });
};

test('an announcement is written by people, shown while open, and past once resolved', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  const app = await startApp(t, { settings: { dataDir } });
  const token = await app.login('admin');
  await putPage(app, token, 'main', onePage);
  const reader = await app.login('reader');
  const { status, json } = await announce(app, reader);
  assert.deepEqual([status, json.state, json.updates[0]?.by], [201, 'investigating', 'reader']);
  const open = await app.request('GET', '/status/main');
  assert.match(open.text, /<article class="card open"><div class="row"><h2>Slow responses<\/h2>/);
  assert.ok(!/db-7|secret inside/.test(open.text) && !open.text.includes(json.id));
  const path = `/api/announcements/${json.id}/updates`;
  const body = { text: 'Line one\n<b>two</b>', state: 'resolved' };
  const resolved = await app.request<Shown>('POST', path, { token, body });
  assert.deepEqual([resolved.status, resolved.json.state, resolved.json.updates.length], [201, 'resolved', 2]);
  await app.close();
  const again = await startApp(t, { settings: { dataDir } });
  const { text } = await again.request('GET', '/status/main');
  assert.match(text, /<h2>Past announcements<\/h2>\n<article class="card"><div class="row"><h3>Slow responses/);
  assert.match(text, /Line one\n&lt;b&gt;two&lt;\/b&gt;/);
  const list = await again.request<{ data: Shown[] }>('GET', '/api/announcements?statusPage=main', { token: reader });
  assert.deepEqual(list.json.data, [resolved.json]);
  assert.equal((await again.request('GET', '/api/announcements')).status, 401);
});

test('announcements without a page, an incident, a text or a known state are refused', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await putPage(app, token, 'main', onePage);
  const none = await app.request('POST', '/api/incidents/99/announcements', { token, body: first });
  assert.equal(none.status, 404);
  assert.equal((await announce(app, token, { ...first, page: 'other' })).status, 404);
  for (const [body, reason] of [
    [{ ...first, text: ' ' }, /text/],
    [{ ...first, title: 'a\r\nb' }, /title/],
    [{ ...first, title: '' }, /title/],
    [{ ...first, state: 'open' }, /state/],
    [{ ...first, text: 'x'.repeat(2001) }, /text/],
    [{ ...first, by: 'me' }, /by/],
  ] as const) {
    const { status, json } = await app.request('POST', '/api/incidents/1/announcements', { token, body });
    assert.equal(status, 400);
    assert.match(String(json['error']), reason);
  }
  const missing = await app.request('POST', '/api/announcements/1/updates', {
    token,
    body: { text: 'x', state: 'resolved' },
  });
  assert.equal(missing.status, 404);
  const { json } = await app.request<{ count: number }>('GET', '/api/announcements', { token });
  assert.equal(json.count, 0);
});

test('open announcements and updates are limited, and a deleted page loses its announcements', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await putPage(app, token, 'main', onePage);
  const { json } = await announce(app, token);
  for (let count = 1; count < 20; count += 1) {
    assert.equal((await app.request('POST', '/api/incidents/1/announcements', { token, body: first })).status, 201);
  }
  const full = await app.request('POST', '/api/incidents/1/announcements', { token, body: first });
  assert.deepEqual([full.status, /maximum number of open/.test(String(full.json['error']))], [409, true]);
  const past = { ...first, state: 'resolved' };
  const resolved = await app.request('POST', '/api/incidents/1/announcements', { token, body: past });
  assert.equal(resolved.status, 201);
  const reopened = await app.request('POST', `/api/announcements/${resolved.json['id']}/updates`, {
    token,
    body: { text: 'x', state: 'investigating' },
  });
  assert.deepEqual([reopened.status, /maximum number of open/.test(String(reopened.json['error']))], [409, true]);
  const body = { text: 'x', state: 'monitoring' };
  for (let count = 1; count < 50; count += 1) {
    assert.equal((await app.request('POST', `/api/announcements/${json.id}/updates`, { token, body })).status, 201);
  }
  assert.equal((await app.request('POST', `/api/announcements/${json.id}/updates`, { token, body })).status, 409);
  await app.request('DELETE', '/api/status-pages/main', { token });
  await putPage(app, token, 'main', onePage);
  assert.ok(!(await app.request('GET', '/status/main')).text.includes('Slow responses'));
});
