import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTree } from '../../test/support/host.ts';
import { findProgram, listPowerShellPaths, readPowerShellVersion } from './programs.ts';

const toDependencies = (...libraries: string[]): string =>
  JSON.stringify({
    libraries: Object.fromEntries(libraries.map((library) => [library, { type: 'project' }])),
  });

test('the PowerShell version is read from the dependencies next to the program that a link points to', async (t) => {
  const root = createTree(t, {
    'opt/7/pwsh': '',
    'opt/7/pwsh.deps.json': toDependencies('Markdig.Signed/0.33.0', 'Microsoft.PowerShell.ConsoleHost/7.4.6'),
    'bin/pwsh': { link: '../opt/7/pwsh' },
  });
  assert.equal(await readPowerShellVersion([join(root, 'none/pwsh'), join(root, 'bin/pwsh')]), '7.4.6');
});

test('the first PowerShell that can be executed is used, and its version is reported', async (t) => {
  const root = createTree(t, {
    'unknown/pwsh': '',
    '7/pwsh': '',
    '7/pwsh.deps.json': toDependencies('pwsh/7.4.6'),
  });
  const paths = ['none', 'unknown', '7'].map((folder) => join(root, folder, 'pwsh'));
  assert.equal(await findProgram(paths), paths[1]);
  assert.equal(await readPowerShellVersion(paths), null);
  assert.equal(await findProgram([]), null);
});

test('a preview version of PowerShell is reported in full', async (t) => {
  const root = createTree(t, { pwsh: '', 'pwsh.deps.json': toDependencies('pwsh/7.6.0-preview.2') });
  assert.equal(await readPowerShellVersion([join(root, 'pwsh')]), '7.6.0-preview.2');
});

test('the PowerShell version is null if none is installed or its files are unreadable', async (t) => {
  const root = createTree(t, {
    'bare/pwsh': '',
    'broken/pwsh': '',
    'broken/pwsh.deps.json': '{',
    'other/pwsh': '',
    'other/pwsh.deps.json': toDependencies('Other/1.0.0'),
  });
  const paths = ['missing', 'bare', 'broken', 'other'].map((folder) => join(root, folder, 'pwsh'));
  for (const path of paths) assert.equal(await readPowerShellVersion([path]), null);
});

test('the version of Windows PowerShell is always 5.1', async (t) => {
  const root = createTree(t, { 'v1.0/powershell.exe': '' });
  assert.equal(await readPowerShellVersion([join(root, 'v1.0/powershell.exe')]), '5.1');
  assert.equal(await readPowerShellVersion([join(root, 'powershell.exe')]), null);
});

test('PowerShell is looked for only at absolute paths, and nowhere on systems without it', () => {
  assert.ok(listPowerShellPaths('linux').every((path) => path.startsWith('/')));
  assert.ok(listPowerShellPaths('win32').every((path) => path.startsWith('C:\\')));
  assert.deepEqual(listPowerShellPaths('sunos'), []);
});
