import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { getRaw, sendRaw } from '../support/connection.ts';
import { createFolder } from '../support/folder.ts';

const secretText = 'not for you';

/** Starts an app with a page in its public folder, next to a file that must not be served. */
const startWithPages = async (t: TestContext): Promise<string> => {
  const folder = createFolder(t);
  const pages = join(folder, 'pages');
  mkdirSync(join(pages, 'sub'), { recursive: true });
  writeFileSync(join(pages, 'index.html'), '<title>pages</title>');
  writeFileSync(join(pages, 'sub', 'a b.txt'), 'text');
  writeFileSync(join(pages, '.env'), secretText);
  writeFileSync(join(folder, 'secret.txt'), secretText);
  const { url } = await startApp(t, { settings: { profiles: ['L'], publicDir: pages } });
  // The link is created after startup, because an existing link would prevent the start.
  symlinkSync(join(folder, 'secret.txt'), join(pages, 'link.txt'));
  return url;
};

test('/docs/ serves the files of the public folder with their types', async (t) => {
  const url = await startWithPages(t);
  const page = await getRaw(url, '/docs/');
  assert.match(page, /^HTTP\/1\.1 200 OK\r\n/);
  assert.match(page, /\r\ncontent-type: text\/html; charset=utf-8\r\n/i);
  assert.match(page, /\r\ncontent-security-policy: default-src 'self'.* frame-ancestors 'none'/i);
  assert.match(page, /\r\ncache-control: no-cache\r\n/i);
  assert.match(page, /<title>pages<\/title>$/);
  assert.match(await getRaw(url, '/docs/sub/a%20b.txt'), /\r\n\r\ntext$/);
});

test('folders are not listed, and dotfiles and links that leave the public folder are not served', async (t) => {
  const url = await startWithPages(t);
  for (const path of ['/docs/sub/', '/docs/.env', '/docs/link.txt', '/docs/%2eenv']) {
    assertRefused(await getRaw(url, path), path);
  }
});

test('the path of a folder without its slash redirects to the path with it', async (t) => {
  const url = await startWithPages(t);
  assert.match(await getRaw(url, '/docs/sub'), /^HTTP\/1\.1 301 .*\r\nlocation: \/docs\/sub\/\r\n/is);
  assert.match(await getRaw(url, '/docs'), /^HTTP\/1\.1 302 .*\r\nlocation: \/docs\/\r\n/is);
});

test('no spelling of a path leaves the public folder', async (t) => {
  const url = await startWithPages(t);
  const ups = ['..', '%2e%2e', '.%2e', '%2E.', '..%00', '%252e%252e', '....', '..;'];
  const slashes = ['/', '%2f', '%5c', '\\', '//', '/./'];
  for (const up of ups) {
    for (const slash of slashes) {
      for (const target of ['secret.txt', `pages${slash}..${slash}secret.txt`, 'etc/passwd']) {
        const path = `/docs/${up}${slash}${target}`;
        assertRefused(await getRaw(url, path), path);
      }
    }
  }
  for (const path of [
    '/docs//etc/passwd',
    '/docs/%00',
    '/docs/../secret.txt',
    '/../secret.txt',
    '/docs%2f..%2fsecret.txt',
  ]) {
    assertRefused(await getRaw(url, path), path);
  }
});

const assertRefused = (answer: string, path: string): void => {
  assert.match(answer, /^HTTP\/1\.1 (400|403|404|405) /, path);
  assert.match(answer, /\r\ncontent-type: application\/json; charset=utf-8\r\n/i, path);
  assert.match(answer, /\r\n\r\n\{"error":"[^"]+"\}$/, path);
  assert.equal(answer.includes(secretText), false, path);
};

test('an unsatisfiable range of a file is refused with 416', async (t) => {
  const url = await startWithPages(t);
  for (const range of ['999999-', '5-2']) {
    const text = await sendRaw(
      url,
      `GET /docs/index.html HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nRange: bytes=${range}\r\n\r\n`,
    );
    assert.match(text, /^HTTP\/1\.1 416 /, range);
    assert.match(text, /\{"error":"[^"]+"\}$/, range);
  }
});
