import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEnvironment } from './environment.ts';

test('PowerShell gets no variable of the server but the home folder, and reports to nobody', () => {
  const { HOME, PATH, ...others } = createEnvironment('linux');
  assert.match(String(HOME), /^\//);
  assert.equal(PATH, '/usr/bin:/bin');
  assert.equal(others['POWERSHELL_TELEMETRY_OPTOUT'], '1');
  assert.equal(others['PSModuleAnalysisCachePath'], '/dev/null');
});

test('on Windows the paths are left to what Node adds', () => {
  const environment = createEnvironment('win32');
  assert.deepEqual([environment['PATH'], environment['HOME']], [undefined, undefined]);
  assert.equal(environment['PSModuleAnalysisCachePath'], 'nul');
});
