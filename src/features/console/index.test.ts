import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startApp } from '../../../test/support/app.ts';
import { createFolder } from '../../../test/support/folder.ts';
import { readFrom } from '../../http/pages.ts';
import type { Feature } from '../../kit/feature.ts';
import { programVersion } from '../../server/package-info.ts';
import { features as allFeatures } from '../index.ts';

/** Returns all features, with the console's pages in the given folder. */
const withPagesIn = (folder: string): Feature[] =>
  allFeatures.map((feature) =>
    feature.name === 'console'
      ? { ...feature, create: (parts) => feature.create({ ...parts, readProgramFile: readFrom(folder) }) }
      : feature,
  );

const createPages = (t: TestContext): string => {
  const folder = createFolder(t);
  mkdirSync(join(folder, 'dist', 'console'), { recursive: true });
  writeFileSync(join(folder, 'dist', 'console', 'index.html'), '<title>console</title>');
  return folder;
};

test('the console is served at /console/ under a policy without unsafe-inline, with any profiles mounted', async (t) => {
  const features = withPagesIn(createPages(t));
  const { request } = await startApp(t, { features, settings: { profiles: ['items'] } });
  const { status, text, headers } = await request('GET', '/console/');
  assert.deepEqual([status, text], [200, '<title>console</title>']);
  assert.match(headers['content-security-policy'] ?? '', /^default-src 'self'; /);
  assert.doesNotMatch(headers['content-security-policy'] ?? '', /unsafe/);
  assert.equal((await request('GET', '/console')).headers['location'], '/console/');
  assert.equal((await request('GET', '/')).headers['location'], '/console/');
  assert.equal((await request('GET', '/docs')).headers['location'], '/docs/');
});

test("the console's page contains the mounted routes, and no text that ends the element", async (t) => {
  const folder = createPages(t);
  writeFileSync(join(folder, 'dist', 'console', 'index.html'), '<head></head>');
  const { request } = await startApp(t, { features: withPagesIn(folder), settings: { profiles: ['items'] } });
  const { text } = await request('GET', '/console/');
  const [, json = ''] =
    /^<head><script id="data" type="application\/json">([^<]+)<\/script>\n<\/head>$/.exec(text) ?? [];
  const { version, timeZone, routes } = JSON.parse(json);
  assert.deepEqual([version, timeZone], [programVersion, new Intl.DateTimeFormat().resolvedOptions().timeZone]);
  const document = (await request('GET', '/openapi.json')).json as { paths: Record<string, object> };
  assert.deepEqual([...new Set(routes.map(({ path }: { path: string }) => path))], Object.keys(document.paths));
  const list = { id: 'listItems', method: 'GET', path: '/api/items', profile: 'items', roles: ['Admin', 'Reader'] };
  assert.deepEqual(
    routes.find(({ id }: { id: string }) => id === 'listItems'),
    list,
  );
});

test('inline styles are allowed only in the API reference, and inline scripts nowhere', async (t) => {
  const common = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";
  const reference = `${common}; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'`;
  const folder = createPages(t);
  const { request } = await startApp(t, { features: withPagesIn(folder) });
  const policyOf = async (path: string, send = request) => (await send('GET', path)).headers['content-security-policy'];
  for (const path of ['/docs/', '/docs/index.html', '/docs/page.js', '/docs/scalar.js']) {
    assert.equal(await policyOf(path), reference, path);
  }
  assert.equal(await policyOf('/console/'), common);
  for (const path of ['/', '/docs', '/docs/none', '/openapi.json', '/health']) {
    assert.doesNotMatch((await policyOf(path)) ?? '', /unsafe/, path);
  }
  writeFileSync(join(folder, 'index.html'), '<title>own page</title>');
  const own = await startApp(t, { settings: { publicDir: folder } });
  assert.equal(await policyOf('/docs/', own.request), common);
});

test('with `console` false, /console/ is 404 and GET / redirects to /docs/', async (t) => {
  const features = withPagesIn(createPages(t));
  const { request } = await startApp(t, { features, settings: { console: false } });
  assert.equal((await request('GET', '/console/')).status, 404);
  assert.equal((await request('GET', '/')).headers['location'], '/docs/');
});

test('without a built console, /console/ is 404 with the reason, and GET / redirects to /docs/', async (t) => {
  const { request } = await startApp(t, { features: withPagesIn(createFolder(t)) });
  for (const path of ['/console/', '/console/main.js']) {
    const { status, json } = await request('GET', path);
    assert.deepEqual([status, json['error']], [404, 'The console has not been built: run npm run build']);
  }
  assert.equal((await request('GET', '/')).headers['location'], '/docs/');
});

test('a link on another site can open the console', async (t) => {
  const { request } = await startApp(t, { features: withPagesIn(createPages(t)) });
  const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  assert.equal((await request('GET', '/console/', { headers })).status, 200);
});

test('pages and the OpenAPI document are compressed for clients that accept gzip, and a changed page is sent again', async (t) => {
  const folder = createPages(t);
  const { url } = await startApp(t, { features: withPagesIn(folder) });
  for (const path of ['/console/', '/docs/', '/docs/scalar.js', '/openapi.json']) {
    // fetch accepts gzip by default.
    const first = await fetch(`${url}${path}`);
    assert.equal(first.headers.get('content-encoding'), 'gzip', path);
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
    assert.equal((await fetch(`${url}${path}`, { headers })).status, 304);
    const plain = await fetch(`${url}${path}`, { headers: { 'accept-encoding': 'identity' } });
    assert.equal(plain.headers.get('content-encoding'), null);
    assert.equal(await plain.text(), await first.text());
  }
  const headers = { 'if-none-match': (await fetch(`${url}/console/`)).headers.get('etag') ?? '' };
  writeFileSync(join(folder, 'dist', 'console', 'index.html'), '<title>changed</title>');
  const changed = await fetch(`${url}/console/`, { headers });
  assert.deepEqual([changed.status, await changed.text()], [200, '<title>changed</title>']);
});
