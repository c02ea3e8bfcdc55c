import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/server/package-info.ts';
import { readText } from './support/documents.ts';

test('docs/how-it-works/architecture.md describes every folder and file directly in src', () => {
  const tree = readText('docs/how-it-works/architecture.md');
  const missing = readdirSync(join(packageRoot, 'src'), { withFileTypes: true })
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .filter((name) => !name.endsWith('.test.ts') && !tree.includes(`\n  ${name} `));
  assert.deepEqual(missing, []);
});

test('no two files in src export the same name', () => {
  const declared = /^export (?:abstract |async )?(?:const|function\*?|class|interface|type) +(\w+)/gm;
  const places = new Map<string, Set<string>>();
  for (const file of readdirSync(join(packageRoot, 'src'), { recursive: true }).map(String)) {
    if (!file.endsWith('.ts') || /\.(test|d)\.ts$/.test(file)) continue;
    for (const [, name = ''] of readText(join('src', file)).matchAll(declared)) {
      places.set(name, (places.get(name) ?? new Set()).add(file));
    }
  }
  assert.ok(places.size > 500);
  const shared = [...places].filter(([, files]) => files.size > 1);
  assert.deepEqual(shared, []);
});
