import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCommand } from '../policy/check.ts';
import { findName } from './names.ts';
import { Refusal } from './refusal.ts';

test('a name is found in any case, and only with the letters that it has', () => {
  assert.equal(findName(['KeyOnly', 'Name'], 'keyONLY'), 'KeyOnly');
  for (const text of ['', 'Key', '\u212aeyOnly', 'ke\u00ffonly'])
    assert.equal(findName(['KeyOnly'], text), undefined);
});

test('a Kelvin sign, which is a k in lower case, is no k in parameters, values and filters', () => {
  for (const rest of [
    'Win32_Process -\u212aeyOnly',
    'Win32_LogicalDis\u212a',
    'Win32_OperatingSystem -Filter "LocalDateTime LI\u212aE \'2%\'"',
    'Win32_Process -Property \u212aernelModeTime',
  ]) {
    assert.ok(checkCommand(`Get-CimInstance ${rest}`) instanceof Refusal, rest);
  }
});
