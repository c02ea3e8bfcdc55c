import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/server/package-info.ts';
import { requires } from '../lab/faults/support/requirements.ts';
import { createFolder } from '../support/folder.ts';
import { readText } from './support/documents.ts';

const run = promisify(execFile);
const needs = requires({ programs: ['systemd-analyze'] });

test('systemd-analyze finds no fault in the unit file', needs, async (t) => {
  const unit = join(createFolder(t), 'signalbox.service');
  await copyFile(join(packageRoot, 'deploy', 'signalbox.service'), unit);
  const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', unit]);
  const own = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('signalbox'));
  assert.deepEqual(own, []);
});

test('docs/guides/systemd.md shows the exposure level that systemd calculates', needs, async () => {
  const path = join(packageRoot, 'deploy', 'signalbox.service');
  const { stdout } = await run('systemd-analyze', ['security', '--offline=true', path]);
  const [, exposure = ''] = /Overall exposure level for \S+: (\S+)/.exec(stdout) ?? [];
  assert.ok(Number(exposure) <= 2.1, exposure);
  assert.match(readText('docs/guides/systemd.md'), /rates its exposure as 2\.0 out of 10/);
});
