import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { writeProgram } from '../../../../test/support/child-programs.ts';
import { SettingsError } from '../../../config/settings-error.ts';
import { createHostReadings } from '../../../host/index.ts';
import { chooseRunner } from './choose-runner.ts';

const host = createHostReadings();
after(() => host.close());

const clock = (): Date => new Date();

const choose = async (
  commandRunner: 'auto' | 'native' | 'powershell',
  platform: NodeJS.Platform,
  ...powerShellPaths: string[]
): Promise<string> => {
  const runner = await chooseRunner({ commandRunner, powerShellPaths, host, clock, platform });
  return runner.name;
};

test('the runner is native on Linux and powershell on Windows, unless commandRunner sets one', async (t) => {
  const program = writeProgram(t, 'pwsh', 'exit 0');
  assert.equal(await choose('auto', 'linux', program), 'native');
  assert.equal(await choose('auto', 'win32', '/nonexistent', program), 'powershell');
  assert.equal(await choose('native', 'win32', program), 'native');
  assert.equal(await choose('powershell', 'linux', program), 'powershell');
});

test('a missing PowerShell is an error that says what to do', async () => {
  const reason =
    'commandRunner is powershell, but there is no PowerShell at /a/pwsh, /b/pwsh: ' +
    'install it, set powershellPath, or set commandRunner to native';
  await assert.rejects(choose('powershell', 'linux', '/a/pwsh', '/b/pwsh'), new SettingsError([reason]));
  await assert.rejects(choose('auto', 'win32'), /^SettingsError: commandRunner is auto, but .* at any known place/);
});
