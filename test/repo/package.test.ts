import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listDocuments, readText } from './support/documents.ts';

interface Package {
  repository: { url: string };
  homepage: string;
  bugs: string;
  files: string[];
  keywords: string[];
}

const { repository, homepage, bugs, files, keywords } = JSON.parse(readText('package.json')) as Package;
const address = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');

/** npm packs them without being told. */
const always = ['README.md', 'LICENSE', 'package.json'];

test('package.json names the repository once: homepage and bugs are pages of it', () => {
  assert.match(repository.url, /^git\+https:\/\/[^/]+\/[^/]+\/[^/]+\.git$/);
  assert.equal(homepage, `${address}#readme`);
  assert.equal(bugs, `${address}/issues`);
  assert.ok(keywords.length >= 5);
});

test('documents link to no repository of signalbox but the one in package.json', () => {
  for (const path of listDocuments()) {
    const links = readText(path).match(/https:\/\/[^\s)"'`]+\/signalbox(?=[/)\s.#]|$)[^\s)"'`]*/gm) ?? [];
    for (const link of links) assert.ok(link.startsWith(address), `${path}: ${link}`);
  }
});

test('every file that the README links to is in the package', () => {
  const links = [...readText('README.md').matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, link = '']) => link);
  const own = links.filter((link) => !/^https?:/.test(link));
  assert.ok(own.length > 10);
  for (const link of own) {
    const isPacked = [...files, ...always].some((entry) => link === entry || link.startsWith(`${entry}/`));
    assert.ok(isPacked, link);
  }
});
