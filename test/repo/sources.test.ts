import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/app/package-info.ts';
import { readText } from './support/documents.ts';

test('docs/architecture.md has a line for every folder and top-level file of src', () => {
  const tree = readText('docs/architecture.md');
  const source = join(packageRoot, 'src');
  const missing = readdirSync(source, { recursive: true, withFileTypes: true })
    .map((entry) => ({ entry, path: relative(source, join(entry.parentPath, entry.name)) }))
    .filter(({ entry, path }) => entry.isDirectory() || (path === entry.name && !path.endsWith('.test.ts')))
    .map(({ entry, path }) => (entry.isDirectory() ? `${path}/` : path))
    .filter((name) => !tree.includes(`\n  ${name} `));
  assert.deepEqual(missing, []);
});

test('.ci/run runs the check and test commands that the documents name', () => {
  const steps = readText('.ci/run');
  for (const command of ['npm run check', 'npm test']) {
    assert.match(steps, new RegExp(`^${command}$`, 'm'));
    assert.ok(readText('README.md').includes(`\`${command}\``), command);
  }
});
