import assert from 'node:assert/strict';
import { hash, hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listIncidents, readIncident, waitForIncident } from '../../../../test/incidents/support/incidents.ts';
import { sendAlert } from '../../../../test/support/alerts.ts';
import { secret, startApp, startRefusal, type TestApp } from '../../../../test/support/app.ts';
import { waitUntilPasses } from '../../../../test/support/wait.ts';
import { createAcknowledgeLinks } from './links.ts';

const publicUrl = 'https://signalbox.example.org';
const phone = { name: 'phone', type: 'ntfy', url: 'http://127.0.0.1:9/topic', levels: ['INFO'] };
const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

const start = (t: Parameters<typeof startApp>[0], settings: object = {}) =>
  startApp(t, { settings: { publicUrl, destinations: [phone], ...settings } });

const createLinks = (key: string | Buffer, at: number) =>
  createAcknowledgeLinks(
    [typeof key === 'string' ? Buffer.from(hkdfSync('sha256', key, '', 'acknowledge', 32)) : key],
    () => new Date(at),
    () => undefined,
  );

const linked = { name: phone.name, type: phone.type, url: phone.url, createdAt: undefined };

/** Returns the path of a destination's link for incidents. */
const toPath = (ids: string[], { destination = 'phone', at = Date.now(), key = secret } = {}): string =>
  `/api/acknowledge/${createLinks(key, at).createToken({ ...linked, name: destination }, ids)}`;

interface Result {
  message: string;
  incidents: { number: number; state: string; acknowledgedBy: string | null }[];
}

const openIncident = async (app: TestApp, message = 'disk full'): Promise<string> => {
  await sendAlert(app, { message, source: 'backup', hostname: 'db-1', level: 'CRITICAL', key: message });
  let id = '';
  await waitUntilPasses(async () => {
    const found = (await listIncidents(app)).data.find(({ title }) => title === message);
    assert.ok(found);
    id = found.id;
  });
  return id;
};

test('opening the link acknowledges nothing, and its button acknowledges the incident', async (t) => {
  const app = await start(t);
  const id = await openIncident(app, 'disk <b>full</b> & "hot"');
  const path = toPath([id]);
  for (let n = 0; n < 2; n += 1) {
    const page = await app.request('GET', path, { headers: browser });
    assert.equal(page.status, 200);
    assert.match(page.headers['content-type'] ?? '', /^text\/html/);
    assert.match(page.text, /<h1>Acknowledge this incident\?<\/h1>/);
    assert.match(page.text, /#1 disk &lt;b&gt;full&lt;\/b&gt; &amp; &quot;hot&quot;/);
    assert.match(page.text, /No login is needed: the acknowledgement is recorded for somebody via phone\./);
    assert.match(page.text, /open since \d{4}-\d\d-\d\d \d\d:\d\d [+-]\d\d:\d\d/);
    assert.match(page.text, /<form method="post"><button>Acknowledge<\/button><\/form>/);
    assert.doesNotMatch(page.text, /<script|src=|<link|style="/);
  }
  assert.equal((await app.request('HEAD', path, { headers: browser })).status, 200);
  assert.equal((await readIncident(app, id)).state, 'open');
  const form = { ...browser, 'content-type': 'application/x-www-form-urlencoded', origin: app.url };
  const same = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  const done = await app.request('POST', path, { headers: { ...form, ...same }, body: '' });
  assert.equal(done.status, 200);
  assert.match(done.text, /<h1>Acknowledged<\/h1>/);
  assert.doesNotMatch(done.text, /<form/);
  assert.match(done.text, new RegExp(`<a href="${publicUrl}/console/#/incidents/1">`));
  const { state, acknowledgedBy, timeline } = await readIncident(app, id);
  assert.deepEqual([state, acknowledgedBy], ['acknowledged', 'destination:phone']);
  assert.deepEqual(
    timeline.map(({ type, by }) => [type, by]),
    [
      ['opened', 'address:127.0.0.1'],
      ['acknowledged', 'destination:phone'],
    ],
  );
});

test('the page has a policy that allows its style and its form alone', async (t) => {
  const app = await start(t);
  const { headers, text } = await app.request('GET', toPath([await openIncident(app)]), { headers: browser });
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(text) ?? [];
  assert.equal(
    headers['content-security-policy'],
    `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  );
  assert.equal(headers['referrer-policy'], 'same-origin');
  assert.equal(headers['cache-control'], 'no-store');
});

test('a program gets JSON, and a second request names the user who acknowledged the incident', async (t) => {
  const app = await start(t);
  const id = await openIncident(app);
  const post = (destination: string) => app.request<Result>('POST', toPath([id], { destination }));
  const first = await post('phone');
  assert.equal(first.status, 200);
  assert.deepEqual(first.json, {
    message: 'Acknowledged',
    incidents: [
      {
        number: 1,
        title: 'disk full',
        level: 'CRITICAL',
        state: 'acknowledged',
        acknowledgedBy: 'destination:phone',
      },
    ],
  });
  const { json } = await post('phone');
  assert.equal(json.message, 'Already acknowledged by somebody via phone');
  assert.equal((await readIncident(app, id)).timeline.length, 2);
});

test('a link changes neither an acknowledged nor a resolved incident', async (t) => {
  const app = await start(t);
  const id = await openIncident(app);
  const token = await app.login('admin');
  const read = async () => (await app.request('POST', toPath([id]), { headers: browser })).text;
  await app.request('POST', `/api/incidents/${id}/acknowledge`, { token });
  assert.match(await read(), /<h1>Already acknowledged by admin<\/h1>/);
  await app.request('POST', `/api/incidents/${id}/resolve`, { token });
  assert.match(await read(), /<h1>This incident is resolved<\/h1>/);
  assert.equal((await readIncident(app, id)).state, 'resolved');
});

test('a link for several incidents acknowledges the open ones', async (t) => {
  const app = await start(t);
  const [first, second] = [await openIncident(app, 'disk full'), await openIncident(app, 'no backup')];
  const third = await openIncident(app, 'load is high');
  await app.request('POST', `/api/incidents/${second}/resolve`, { token: await app.login('admin') });
  const path = toPath([first, second, third]);
  assert.equal((await app.request<Result>('GET', path)).json.message, 'Acknowledge 2 incidents?');
  const { json } = await app.request<Result>('POST', path);
  assert.equal(json.message, '2 incidents acknowledged');
  assert.deepEqual(
    json.incidents.map(({ state }) => state),
    ['acknowledged', 'resolved', 'acknowledged'],
  );
});

test('incomplete, altered, forged, expired and void links are refused with instructions', async (t) => {
  const app = await start(t);
  const id = await openIncident(app);
  const path = toPath([id]);
  const day = 24 * 3_600_000;
  const altered = path.replace(/.(?=.{30}$)/, (letter) => (letter === 'A' ? 'B' : 'A'));
  const cases: [path: string, status: number, reason: RegExp][] = [
    ['/api/acknowledge/1', 404, /incomplete/],
    [path.slice(0, -3), 404, /incomplete/],
    [altered, 403, /not valid/],
    [toPath([id], { key: 'x'.repeat(32) }), 403, /not valid/],
    [toPath([id], { destination: 'removed' }), 403, /destination was removed/],
    [toPath([id], { at: Date.now() - day - 1000 }), 410, /expired/],
    [toPath(['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55']), 410, /no longer stored/],
  ];
  for (const [wrong, status, reason] of cases) {
    for (const method of ['GET', 'POST']) {
      const page = await app.request(method, wrong, { headers: browser });
      assert.equal(page.status, status, wrong);
      assert.match(page.text, reason);
      assert.match(page.text, /Acknowledge the incident in the console/);
      const { json, status: same } = await app.request<{ error: string }>(method, wrong);
      assert.equal(same, status);
      assert.match(json.error, reason);
    }
  }
  assert.equal((await readIncident(app, id)).state, 'open');
});

test('the link can be followed from a mail in a browser, but no other page can send its form', async (t) => {
  const app = await start(t);
  const id = await openIncident(app);
  const path = toPath([id]);
  const foreign = { ...browser, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  assert.equal((await app.request('GET', path, { headers: foreign })).status, 200);
  const origin = 'https://mail.example.org';
  assert.equal((await app.request('POST', path, { headers: { ...foreign, origin } })).status, 403);
  assert.equal((await readIncident(app, id)).state, 'open');
});

test('links need no token with access login, and work on another mount', async (t) => {
  const app = await start(t, { access: 'login', mounts: { '/x': ['alerts', 'incidents', 'login'] } });
  assert.equal((await app.request('GET', `/x${toPath(['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'])}`)).status, 410);
});

test('without a jwtSecret, links are valid after a restart', async (t) => {
  const unset = await startApp(t, { settings: { publicUrl, destinations: [phone], jwtSecret: undefined } });
  const file = join(unset.folder, 'data', 'acknowledge.key');
  const kept = readFileSync(file);
  assert.equal(kept.length, 32);
  const id = await openIncident(unset);
  const token = createLinks(kept, Date.now()).createToken(linked, [id]);
  await unset.close();
  const dataDir = join(unset.folder, 'data');
  const again = await startApp(t, { settings: { publicUrl, destinations: [phone], jwtSecret: undefined, dataDir } });
  await waitForIncident(again, { number: 1 });
  assert.equal((await again.request('POST', `/api/acknowledge/${token}`)).status, 200);
});

test('an address that cannot be linked to is refused on startup', async (t) => {
  for (const wrong of [
    ...['signalbox.example.org', 'ftp://example.org', 'https://example.org/?x=1', 'https://example.org/#x'],
    ...['https://example.org?', 'https://user@example.org', 'https://example.org/a b', 'https://exämple.org'],
  ]) {
    assert.match(
      await startRefusal(t, { settings: { publicUrl: wrong } }),
      /^publicUrl must be an http or https/,
      wrong,
    );
  }
  await start(t, { publicUrl: 'http://10.0.0.7:8080/signalbox/' });
});
