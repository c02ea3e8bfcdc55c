import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/server/package-info.ts';
import { listDocuments, listFiles, readText } from './support/documents.ts';

const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };

/** Returns the paths and anchors that a document links to, without web links. */
const listLinks = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^https?:/.test(link));

/** Returns the anchors that GitHub creates from headings. */
const listAnchors = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- ]/gu, '')
      .replaceAll(' ', '-'),
  );

/** Returns every npm script named in a string: `npm run check`, `npm start -- --port 9000`. */
const listScripts = (text: string): string[] =>
  [...text.matchAll(/npm (?:run (?:--\w+ )*([\w:-]+)|(start|test)\b)/g)].map(([, run, short]) => run ?? short ?? '');

test('every npm script named in a document exists, and every script is documented', () => {
  const named = listDocuments().flatMap((path) => listScripts(readText(path)).map((script) => ({ path, script })));
  assert.deepEqual(
    named.filter(({ script }) => !Object.hasOwn(scripts, script)),
    [],
  );
  const known = new Set(named.map(({ script }) => script));
  assert.deepEqual(
    // npm runs this script automatically.
    Object.keys(scripts).filter((script) => script !== 'prepack' && !known.has(script)),
    [],
  );
});

test('every relative link in a document leads to a file and heading in the repository', () => {
  for (const path of listDocuments()) {
    for (const link of listLinks(readText(path))) {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : normalize(join(dirname(path), file));
      assert.ok(!target.startsWith('..') && existsSync(join(packageRoot, target)), `${path}: ${link}`);
      if (anchor !== undefined) assert.ok(listAnchors(readText(target)).includes(anchor), `${path}: ${link}`);
    }
  }
});

test('documents name no path outside the repository', () => {
  for (const path of listDocuments()) {
    const text = readText(path);
    assert.doesNotMatch(text, /(^|[\s(`"'])(\/home\/|\/root\/|\/Users\/|\/work\/|\/tmp\/|[A-Z]:\\Users)/m, path);
    for (const [climbing] of text.matchAll(/(?:\.\.\/)+[\w.-]*/g)) {
      assert.ok(!normalize(join(dirname(path), climbing)).startsWith('..'), `${path}: ${climbing}`);
    }
  }
});

test('docs/decisions/README.md links to every decision', () => {
  const files = listFiles('docs/decisions').filter((path) => !path.endsWith('README.md'));
  const links = listLinks(readText('docs/decisions/README.md')).map((link) => `docs/decisions/${link}`);
  assert.deepEqual(links.toSorted(), files.toSorted());
});
