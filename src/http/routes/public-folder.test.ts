import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createServableCheck, findEscapingLink } from './public-folder.ts';

/** A folder `pages` with a page in a subfolder, next to a file that must not be served. */
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
