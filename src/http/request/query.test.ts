import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { HttpError } from '../response/errors.ts';
import { createQueryConversion } from './query.ts';

const convert = createQueryConversion({ limit: Type.Integer(), level: Type.String() });

test('plain decimal digits become a number, where one is wanted', () => {
  assert.deepEqual(convert({ limit: '12', level: '12' }), { limit: 12, level: '12' });
  assert.deepEqual(convert({ limit: '0' }), { limit: 0 });
  assert.deepEqual(convert({ limit: '007' }), { limit: 7 });
});

test('a number past what a double holds exactly is the largest that it does', () => {
  const largest = { limit: Number.MAX_SAFE_INTEGER };
  for (const limit of ['9007199254740991', '9007199254740992', '9'.repeat(400)]) {
    assert.deepEqual(convert({ limit }), largest, limit);
  }
});

test('what is no plain number stays as it is', () => {
  for (const limit of ['-1', '+1', '1.5', '1e3', ' 1', '1 ', '1x', 'x1', '\u0661', '0x1', '1\n']) {
    assert.deepEqual(convert({ limit }), { limit }, limit);
  }
});

test('an empty value is an absent one, and what nobody asks for is left out', () => {
  assert.deepEqual(convert({ limit: '', level: '' }), {});
  assert.deepEqual(convert({ x: '1', Limit: '1', y: ['1', '2'] }), {});
});

test('a parameter that is given twice is refused by its name', () => {
  for (const twice of [['1', '1'], ['', ''], []]) {
    assert.throws(
      () => convert({ limit: '1', level: twice }),
      (error) =>
        error instanceof HttpError && error.status === 400 && error.message === 'level is given more than once',
    );
  }
});
