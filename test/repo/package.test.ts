import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { listDocuments, listLinkedFiles, readText } from './support/documents.ts';

interface Package {
  repository: { url: string };
  homepage: string;
  bugs: string;
  files: string[];
  keywords: string[];
}

const { repository, homepage, bugs, files, keywords } = JSON.parse(readText('package.json')) as Package;
const address = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');

/** Files that npm always packs. */
const always = ['README.md', 'LICENSE', 'package.json'];

test('homepage and bugs in package.json are pages of its repository', () => {
  assert.match(repository.url, /^git\+https:\/\/[^/]+\/[^/]+\/[^/]+\.git$/);
  assert.equal(homepage, `${address}#readme`);
  assert.equal(bugs, `${address}/issues`);
  assert.ok(keywords.length >= 5);
});

test('documents link to no signalbox repository except the one in package.json', () => {
  for (const path of listDocuments()) {
    const links = readText(path).match(/https:\/\/[^\s)"'`]+\/signalbox(?=[/)\s.#]|$)[^\s)"'`]*/gm) ?? [];
    for (const link of links) assert.ok(link.startsWith(address), `${path}: ${link}`);
  }
});

const isPacked = (path: string): boolean =>
  [...files, ...always].some((entry) => path === entry || path.startsWith(`${entry}/`));

test('documents in the package link only to files in the package', () => {
  const packed = listDocuments().filter(isPacked);
  const links = packed.flatMap((path) =>
    listLinkedFiles(readText(path)).map((link) => ({ path, file: join(dirname(path), link) })),
  );
  assert.ok(links.length > 100, `${links.length} links`);
  assert.deepEqual(
    links.filter(({ file }) => !isPacked(file)),
    [],
  );
});
