import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/app/package-info.ts';
import { readText } from './support/documents.ts';

test('docs/architecture.md has a line for every folder of src and of its folders, and every top-level file', () => {
  const tree = readText('docs/architecture.md');
  const source = join(packageRoot, 'src');
  const missing = readdirSync(source, { recursive: true, withFileTypes: true })
    .map((entry) => ({ entry, path: relative(source, join(entry.parentPath, entry.name)) }))
    .filter(({ path }) => path.split(sep).length <= 2)
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
