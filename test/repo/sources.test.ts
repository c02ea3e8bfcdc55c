import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/app/package-info.ts';
import { listFiles, readText } from './support/documents.ts';

const longest = 300;

test('no source, test or page file is longer than 300 lines', () => {
  const tooLong = ['src', 'test', 'bench', 'public', 'scripts']
    .flatMap(listFiles)
    .filter((path) => readText(path).split('\n').length > longest + 1);
  assert.deepEqual(tooLong, []);
});

test('docs/architecture.md names everything at the top of src', () => {
  const tree = readText('docs/architecture.md');
  for (const entry of readdirSync(join(packageRoot, 'src'), { withFileTypes: true })) {
    const name = entry.isDirectory() ? `${entry.name}/` : entry.name;
    assert.ok(tree.includes(`  ${name}`) || name.endsWith('.test.ts'), name);
  }
});

test('.ci/run runs the check and test commands that the documents name', () => {
  const steps = readText('.ci/run');
  for (const command of ['npm run check', 'npm test']) {
    assert.match(steps, new RegExp(`^${command}$`, 'm'));
    assert.ok(readText('README.md').includes(`\`${command}\``), command);
  }
});
