import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../test/support/folder.ts';
import { findFiles } from './files.ts';

test('a pattern of files finds names with any text for each asterisk, quickly for any number of files', async (t) => {
  const folder = createFolder(t);
  mkdirSync(join(folder, 'logs'));
  const long = `${'a-'.repeat(120)}.txt`;
  for (const name of ['a-b-c.log', 'a(b).log', '.hidden.log', long]) writeFileSync(join(folder, 'logs', name), '');
  const find = async (pattern: string): Promise<string[]> =>
    (await findFiles(join(folder, pattern))).map(({ path }) => path.slice(folder.length + 6)).sort();
  assert.deepEqual(await find('logs/*.log'), ['a(b).log', 'a-b-c.log']);
  assert.deepEqual(await find('l*/*-*-*.log'), ['a-b-c.log']);
  assert.deepEqual(await find('logs/.*.log'), ['.hidden.log']);
  assert.deepEqual(await find('logs/a(*).log'), ['a(b).log']);
  const { user } = process.cpuUsage();
  assert.deepEqual(await find(`logs/${'*-'.repeat(60)}*.log`), []);
  assert.ok(process.cpuUsage().user - user < 1_000_000);
});
