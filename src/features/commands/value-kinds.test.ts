import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from './language.ts';
import { dateKind } from './value-kinds.ts';

const readDate = (text: string): Date => dateKind.parse(text, []);

test('ISO 8601 dates are parsed, without a zone as local time', () => {
  assert.deepEqual(readDate('2024-02-29'), new Date(2024, 1, 29));
  assert.deepEqual(readDate('2024-02-29 10:30'), new Date(2024, 1, 29, 10, 30));
  assert.deepEqual(readDate('2024-02-29T10:30:05.5'), new Date(2024, 1, 29, 10, 30, 5, 500));
  assert.deepEqual(readDate('2024-02-29T10:30:05Z'), new Date('2024-02-29T10:30:05Z'));
  assert.deepEqual(readDate('2024-02-29T10:30+02:00'), new Date('2024-02-29T08:30:00Z'));
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
  for (const text of texts) assert.throws(() => dateKind.parse(text, []), Refusal, text);
});
