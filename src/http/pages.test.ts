import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { listen } from '../../test/support/app.ts';
import { createFolder } from '../../test/support/folder.ts';
import type { Scope } from '../../test/support/scope.ts';
import { createBareServer } from '../../test/support/server.ts';
import { createServableCheck, findEscapingLink, StaticText, serveStaticFiles } from './pages.ts';

test('pages are served from more than one folder, each with its own policy', async (t) => {
  const folder = createFolder(t);
  const app = createBareServer();
  for (const name of ['one', 'two']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'index.html'), name);
    writeFileSync(join(folder, name, `${name}.txt`), name);
    await serveStaticFiles(app, { prefix: `/${name}/`, root: join(folder, name), policy: `script-src '${name}'` });
  }
  const { request } = await listen(t, app);
  for (const name of ['one', 'two']) {
    for (const path of [`/${name}/`, `/${name}/${name}.txt`]) {
      const { status, text, headers } = await request('GET', path);
      assert.deepEqual([status, text, headers['content-security-policy']], [200, name, `script-src '${name}'`]);
    }
    assert.equal((await request('GET', `/${name}`)).headers['location'], `/${name}/`);
  }
  assert.equal((await request('GET', '/one/two.txt')).status, 404);
  const tag = (await request('GET', '/one/one.txt')).headers['etag'] ?? '';
  for (const known of [tag, tag.replace(/"$/, '-gzip"')]) {
    const { status } = await request('GET', '/one/one.txt', { headers: { 'if-none-match': known } });
    assert.equal(status, 304, known);
  }
});

/** Creates a folder `pages` with a page in a subfolder, next to a file that must not be served. */
const createPages = (t: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'pages', 'sub'), { recursive: true });
  writeFileSync(join(folder, 'pages', 'sub', 'page.html'), 'page');
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  return join(folder, 'pages');
};

test('files and folders are served, also through links that stay in the public folder', (t) => {
  const pages = createPages(t);
  symlinkSync('sub/page.html', join(pages, 'link'));
  symlinkSync('.', join(pages, 'circle'));
  const isServable = createServableCheck(pages);
  for (const path of ['.', 'sub', 'sub/page.html', 'link', 'circle/circle/link']) {
    assert.equal(isServable(join(pages, path)), true, path);
  }
  assert.equal(findEscapingLink(pages), undefined);
});

test('a path that leaves the public folder, does not exist or is not a regular file is not served', (t) => {
  const pages = createPages(t);
  symlinkSync('../secret.txt', join(pages, 'out'));
  symlinkSync('loop', join(pages, 'loop'));
  symlinkSync('/dev/null', join(pages, 'device'));
  const isServable = createServableCheck(pages);
  for (const path of ['out', 'loop', 'device', 'nothing', '..', '../secret.txt', 'a\0b']) {
    assert.equal(isServable(`${pages}/${path}`), false, path);
  }
});

test("a sibling folder whose name begins like the public folder's is not served", (t) => {
  const pages = createPages(t);
  mkdirSync(`${pages}-private`);
  assert.equal(createServableCheck(pages)(`${pages}-private`), false);
});

test('an escaping link is found at any depth, except in folders that are not served', (t) => {
  const pages = createPages(t);
  mkdirSync(join(pages, '.git'));
  symlinkSync('/etc', join(pages, '.git', 'etc'));
  symlinkSync('nowhere', join(pages, 'dangling'));
  assert.equal(findEscapingLink(pages), undefined);
  symlinkSync('../../secret.txt', join(pages, 'sub', 'out'));
  assert.equal(findEscapingLink(pages), join(pages, 'sub', 'out'));
});

test('a folder that cannot be listed counts as having no link', (t) => {
  assert.equal(findEscapingLink(join(createPages(t), 'sub', 'page.html')), undefined);
});

const content = 'a text that is sent often, often, often, often, often, often, often, often\n';

/** Creates a function that requests the text with the given headers. */
const serve = async (t: Scope) => {
  const app = createBareServer();
  const text = new StaticText(Buffer.from(content));
  app.get('/', (request, reply) => text.send(request, reply.type('text/plain')));
  const { url } = await listen(t, app);
  return (headers: Record<string, string>) => fetch(url, { headers });
};

test('a text is compressed for clients that accept gzip', async (t) => {
  const get = await serve(t);
  for (const accepted of ['gzip', 'br, GZIP;q=0.5', 'gzip; q=1.000, *', 'deflate,gzip']) {
    const response = await get({ 'accept-encoding': accepted });
    assert.equal(response.headers.get('content-encoding'), 'gzip', accepted);
    assert.equal(response.headers.get('vary'), 'Accept-Encoding');
    assert.ok(Number(response.headers.get('content-length')) < content.length);
    assert.equal(await response.text(), content);
  }
  for (const accepted of ['', 'identity', 'gzip;q=0', 'gzip ; q=0.000', 'br', 'xgzip', 'gzipped']) {
    const response = await get({ 'accept-encoding': accepted });
    assert.equal(response.headers.get('content-encoding'), null, accepted);
    assert.equal(response.headers.get('vary'), 'Accept-Encoding');
    assert.equal(await response.text(), content);
  }
});

test('a client with the current version of a text gets 304, whether compressed or not', async (t) => {
  const get = await serve(t);
  const tags = new Set<string>();
  for (const accepted of ['gzip', 'identity']) {
    const headers = { 'accept-encoding': accepted };
    const tag = (await get(headers)).headers.get('etag') ?? '';
    tags.add(tag);
    const ofProxy = tag.replace(/(-gzip)?"$/, '-br"');
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, ofProxy, `W/${ofProxy}`]) {
      const response = await get({ ...headers, 'if-none-match': known });
      assert.deepEqual([response.status, await response.text()], [304, '']);
      assert.equal(response.headers.get('etag'), tag);
    }
    assert.equal((await get({ ...headers, 'if-none-match': '"other"' })).status, 200);
  }
  assert.equal(tags.size, 2);
});
