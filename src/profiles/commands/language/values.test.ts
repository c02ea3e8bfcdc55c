import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCommand } from '../policy/check.ts';
import { Refusal } from './refusal.ts';
import { findName, parseDate } from './values.ts';

test('ISO 8601 dates are parsed, without a zone as local time', () => {
  assert.deepEqual(parseDate('2024-02-29'), new Date(2024, 1, 29));
  assert.deepEqual(parseDate('2024-02-29 10:30'), new Date(2024, 1, 29, 10, 30));
  assert.deepEqual(parseDate('2024-02-29T10:30:05.5'), new Date(2024, 1, 29, 10, 30, 5, 500));
  assert.deepEqual(parseDate('2024-02-29T10:30:05Z'), new Date('2024-02-29T10:30:05Z'));
  assert.deepEqual(parseDate('2024-02-29T10:30+02:00'), new Date('2024-02-29T08:30:00Z'));
});

test('other date formats and dates that do not exist are refused', () => {
  const texts = [
    '',
    '29.2.2024',
    '2/29/2024',
    '2023-02-29',
    '2024-13-01',
    '2024-01-01T25:00',
    '2024-1-1',
    ' 2024-01-01',
    '2024-01-01x',
    '2024-01-01T10:00Z0',
  ];
  for (const text of texts) assert.ok(parseDate(text) instanceof Refusal, text);
});

test('a name is found in any case, but not by look-alike letters', () => {
  assert.equal(findName(['KeyOnly', 'Name'], 'keyONLY'), 'KeyOnly');
  for (const text of ['', 'Key', '\u212aeyOnly', 'ke\u00ffonly']) assert.equal(findName(['KeyOnly'], text), undefined);
});

test('a Kelvin sign, whose lower case is k, is not accepted as k in parameters, values and filters', () => {
  for (const rest of [
    'Win32_Process -\u212aeyOnly',
    'Win32_LogicalDis\u212a',
    'Win32_OperatingSystem -Filter "LocalDateTime LI\u212aE \'2%\'"',
    'Win32_Process -Property \u212aernelModeTime',
  ]) {
    assert.ok(checkCommand(`Get-CimInstance ${rest}`) instanceof Refusal, rest);
  }
});
