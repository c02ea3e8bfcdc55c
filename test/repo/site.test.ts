import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../src/server/package-info.ts';
import { listFiles } from './support/documents.ts';

interface Entry {
  text: string;
  link?: string;
  items?: Entry[];
}

const contents = join(packageRoot, 'tools', 'docs', '.vitepress', 'contents.mjs');
const { sidebar } = (await import(pathToFileURL(contents).href)) as { sidebar: Entry[] };

const listPages = (entries: Entry[]): string[] =>
  entries.flatMap(({ link, items = [] }) => [...(link === undefined ? [] : [link]), ...listPages(items)]);

test('the documentation site lists exactly the existing pages', () => {
  const files = listFiles('docs').filter((path) => path.endsWith('.md') && path !== join('docs', 'README.md'));
  const isListed = (path: string): boolean => !/^docs\/decisions\/\d/.test(path);
  const pages = files.filter(isListed).map((path) => path.slice('docs'.length).replace(/(README)?\.md$/, ''));
  const linked = new Set(listPages(sidebar).map((link) => link.replace(/#.*$/, '')));
  assert.deepEqual([...linked].toSorted(), pages.toSorted());
});
