import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readAvailability, waitForCheck } from '../availability/support/availability.ts';
import { createHeartbeat, ping } from '../heartbeats/support/heartbeats.ts';
import { startApp, startRefusal } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { waitUntilPasses } from '../support/wait.ts';
import { onePage, putPage } from './support/pages.ts';

test('a status page does not exist until an Admin creates it, and then shows states in words', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const { uuid } = await createHeartbeat(app, token, 'job');
  const missing = await app.request('GET', '/status/main');
  assert.deepEqual([missing.status, missing.json['error']], [404, 'There is no status page with this name']);
  const reader = await app.login('reader');
  const refused = await app.request('PUT', '/api/status-pages/main', { token: reader, body: onePage });
  assert.equal(refused.status, 403);
  await putPage(app, token, 'main', onePage);
  const fresh = await app.request('GET', '/status/main');
  assert.equal(fresh.status, 200);
  assert.match(fresh.text, /The state of some systems is unknown/);
  assert.match(fresh.text, /<span>– · 100\.00 % unknown<\/span>/);
  await ping(app.url, uuid);
  await waitForCheck(app, token, 'heartbeats/job', 'up');
  await waitUntilPasses(async () => {
    const { text } = await app.request('GET', '/status/main');
    assert.match(text, /All systems are up/);
    assert.match(text, /<b>Shop<\/b><span class="s up">Up<\/span>/);
    // The heartbeat was up for a few seconds of 90 days.
    assert.match(text, /<span>(?:–|100\.00 %) · 100\.00 % unknown<\/span>/);
  });
  await ping(app.url, `${uuid}/3`);
  await waitUntilPasses(async () => {
    assert.match((await app.request('GET', '/status/main')).text, /<span class="s down">Down<\/span>/);
  });
  const list = await app.request<{ data: { name: string; unknown: string[] }[] }>('GET', '/api/status-pages', {
    token: reader,
  });
  assert.deepEqual(
    list.json.data.map(({ name, unknown }) => [name, unknown]),
    [['main', []]],
  );
  assert.equal((await app.request('DELETE', '/api/status-pages/main', { token })).status, 200);
  assert.equal((await app.request('GET', '/status/main')).status, 404);
});

test('a page has no scripts, is small, and is sent again only after a change', async (t) => {
  const checks = Array.from({ length: 20 }, (_, index) => ({ name: `Service ${index}`, heartbeat: 'job' }));
  const statusPages = [{ name: 'main', title: 'Example', groups: [{ name: 'Services', checks }] }];
  const app = await startApp(t, { settings: { statusPages } });
  const { headers, text } = await app.request('GET', '/status/main');
  assert.ok(text.length <= 20 * 1024, `${text.length} bytes`);
  assert.doesNotMatch(text, /<script|javascript:|\son\w+=/i);
  assert.match(headers['content-security-policy'] ?? '', /^default-src 'none'; style-src 'sha256-/);
  assert.match(headers['cache-control'] ?? '', /^public, max-age=\d+, stale-while-revalidate=\d+, stale-if-error=\d+$/);
  assert.equal(headers['content-type'], 'text/html; charset=utf-8');
  const tag = headers['etag'] ?? '';
  const same = await app.request('GET', '/status/main', { headers: { 'if-none-match': tag } });
  assert.deepEqual([same.status, same.text], [304, '']);
  assert.match(same.headers['cache-control'] ?? '', /stale-if-error/);
  const answer = await fetch(`${app.url}/status/main`, { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(answer.headers.get('content-encoding'), 'gzip');
  const token = await app.login('admin');
  const inConfig = await app.request('PUT', '/api/status-pages/main', { token, body: onePage });
  assert.equal(inConfig.status, 409);
});

test('hostile texts are escaped', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const evil = `"><script>alert(1)</script>&\u202e'`;
  await putPage(app, token, 'main', {
    title: evil,
    groups: [{ name: evil, checks: [{ name: evil, watch: 'x' }] }],
    colours: { accent: '#00ff00' },
  });
  const { text } = await app.request('GET', '/status/main');
  assert.ok(text.includes('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp; &#39;'));
  assert.doesNotMatch(text, /<script|\u202e/);
});

test('invalid settings of a page are refused with the reason and change nothing', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const check = { name: 'Shop', watch: 'shop' };
  const bodies: [object, RegExp][] = [
    [{ title: 'x' }, /groups/],
    [{ ...onePage, title: 'a\nb' }, /title/],
    [{ ...onePage, groups: [{ name: 'x', checks: [{ name: 'Shop' }] }] }, /exactly one of watch, heartbeat and host/],
    [{ ...onePage, groups: [{ name: 'x', checks: [{ ...check, host: 'a' }] }] }, /exactly one of/],
    [{ ...onePage, groups: [{ name: 'x', checks: [{ ...check, secret: 'a' }] }] }, /remove secret/],
    [{ ...onePage, groups: [1, 2].map(() => ({ name: 'x', checks: Array(501).fill(check) })) }, /1000 checks/],
    [{ ...onePage, timeZone: 'Mars/Olympus' }, /timeZone/],
    [{ ...onePage, colours: { accent: 'red;}*{' } }, /accent/],
    [{ ...onePage, logo: 'https://example.org/logo.png' }, /logo/],
    [{ ...onePage, language: 'xx' }, /language/],
    [{ ...onePage, name: 'other' }, /the path has main/],
  ];
  for (const [body, reason] of bodies) {
    const { status, json } = await app.request('PUT', '/api/status-pages/main', { token, body });
    assert.equal(status, 400, JSON.stringify(body).slice(0, 200));
    assert.match(String(json['error']), reason);
  }
  for (const name of ['Main', 'a b', '-a', 'a'.repeat(64)]) {
    const { status } = await app.request('PUT', `/api/status-pages/${encodeURIComponent(name)}`, {
      token,
      body: onePage,
    });
    assert.equal(status, 400, name);
  }
  assert.equal((await app.request('GET', '/status/main')).status, 404);
  const wrong = [{ name: 'main', title: 'x', groups: [{ name: 'x', checks: [{ name: 'Shop' }] }] }];
  assert.match(await startRefusal(t, { settings: { statusPages: wrong } }), /statusPages: main: check "Shop" needs/);
});

test('a page behind a login needs a token or a key, also as the password of a browser', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await putPage(app, token, 'main', { ...onePage, access: 'login' });
  const { status, headers } = await app.request('GET', '/status/main');
  assert.equal(status, 401);
  assert.equal(headers['www-authenticate'], 'Bearer, Basic realm="status page", charset="UTF-8"');
  const reader = await app.login('reader');
  const page = await app.request('GET', '/status/main', { token: reader });
  assert.deepEqual([page.status, page.headers['cache-control']], [200, 'private, no-cache']);
  const authorization = `Basic ${Buffer.from(`anybody:${reader}`).toString('base64')}`;
  assert.equal((await app.request('GET', '/status/main', { headers: { authorization } })).status, 200);
  const wrong = `Basic ${Buffer.from('admin:wrong').toString('base64')}`;
  assert.equal((await app.request('GET', '/status/main', { headers: { authorization: wrong } })).status, 401);
});

test('a link from another site opens a page', async (t) => {
  const statusPages = [{ name: 'main', ...onePage }];
  const app = await startApp(t, { settings: { statusPages } });
  const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  assert.equal((await app.request('GET', '/status/main', { headers })).status, 200);
});

test('a logo is an image of its own, without scripts', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  const logo = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
  await putPage(app, token, 'main', { ...onePage, logo });
  assert.match((await app.request('GET', '/status/main')).text, /<img src="main\/logo" alt="">/);
  const { headers, text } = await app.request('GET', '/status/main/logo');
  assert.deepEqual([headers['content-type'], text], ['image/svg+xml', svg]);
  assert.match(headers['content-security-policy'] ?? '', /^default-src 'none'.*sandbox$/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
});

test('a page shows maintenance of its checks, without the comment of the silence', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await createHeartbeat(app, token, 'job');
  await putPage(app, token, 'main', onePage);
  const body = {
    match: { source: 'heartbeat/job' },
    startsAt: new Date(Date.now() + 3_600_000).toISOString(),
    endsAt: new Date(Date.now() + 7_200_000).toISOString(),
    comment: 'disk of db-7',
    maintenance: true,
  };
  assert.equal((await app.request('POST', '/api/silences', { token, body })).status, 201);
  await waitUntilPasses(async () => {
    const { text } = await app.request('GET', '/status/main');
    assert.match(text, /<h2>Maintenance<\/h2>\n<ul><li><b>Shop<\/b><br><time/);
    assert.ok(!text.includes('db-7'));
  });
});

test('a day of a check that was up and in maintenance is drawn as maintenance', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const { uuid } = await createHeartbeat(app, token, 'job');
  await putPage(app, token, 'main', onePage);
  await ping(app.url, uuid);
  await waitUntilPasses(async () => {
    assert.ok((await readAvailability(app, token, 'heartbeats/job')).up > 0);
    assert.match((await app.request('GET', '/status/main')).text, /<path class="g"/);
  });
  const endsAt = new Date(Date.now() + 3_600_000).toISOString();
  const body = { match: { source: 'heartbeat/job' }, endsAt, maintenance: true };
  assert.equal((await app.request('POST', '/api/silences', { token, body })).status, 201);
  await waitUntilPasses(async () => {
    const { text } = await app.request('GET', '/status/main');
    assert.match(text, /<path class="w"/);
    assert.doesNotMatch(text, /<path class="g"/);
  });
});

test('a German page has German texts, and a page with 1000 checks has at most 1 MiB', async (t) => {
  const checks = Array.from({ length: 1000 }, (_, index) => ({
    name: `${'&'.repeat(90)} ${index}`,
    watch: `w${index}`,
  }));
  const page = { title: 'Beispiel', language: 'de', groups: [{ name: 'Dienste', checks }] };
  const app = await startApp(t, { settings: { statusPages: [{ name: 'main', ...page }] } });
  const answer = await fetch(`${app.url}/status/main`, { headers: { 'accept-encoding': 'gzip' } });
  const text = await answer.text();
  assert.match(text, /Der Zustand einiger Systeme ist unbekannt/);
  assert.ok(text.length <= 1024 * 1024, `${text.length} bytes`);
  assert.equal(text.match(/<li>/g)?.length, 1000);
});

test('a page contains neither names of watches nor internal addresses', async (t) => {
  const secret = 'topsecret-inside';
  const path = join(createFolder(t), secret);
  const app = await startApp(t, { settings: { watches: [{ name: secret, type: 'file', path, every: 1 }] } });
  const token = await app.login('admin');
  await putPage(app, token, 'main', {
    title: 'Example',
    groups: [{ name: 'Services', checks: [{ name: 'Shop', watch: secret }] }],
  });
  await waitForCheck(app, token, `watches/${secret}`, 'down');
  await waitUntilPasses(async () => assert.match((await app.request('GET', '/status/main')).text, /Down/));
  const answer = await app.request('GET', '/status/main');
  assert.ok(!answer.text.includes(secret) && !JSON.stringify(answer.headers).includes(secret));
});
