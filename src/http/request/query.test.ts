import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { HttpError } from '../response/errors.ts';
import { createQueryConversion } from './query.ts';

const convert = createQueryConversion({ limit: Type.Integer(), level: Type.String() });

test('plain decimal digits become a number if the parameter is a number', () => {
  assert.deepEqual(convert({ limit: '12', level: '12' }), { limit: 12, level: '12' });
  assert.deepEqual(convert({ limit: '0' }), { limit: 0 });
  assert.deepEqual(convert({ limit: '007' }), { limit: 7 });
});

test('a number beyond the safe integers becomes the largest safe integer', () => {
  const largest = { limit: Number.MAX_SAFE_INTEGER };
  for (const limit of ['9007199254740991', '9007199254740992', '9'.repeat(400)]) {
    assert.deepEqual(convert({ limit }), largest, limit);
  }
});

test('a value that is not plain decimal digits stays a string', () => {
  for (const limit of ['-1', '+1', '1.5', '1e3', ' 1', '1 ', '1x', 'x1', '\u0661', '0x1', '1\n']) {
    assert.deepEqual(convert({ limit }), { limit }, limit);
  }
});

test('an empty value counts as absent, and unknown parameters are removed', () => {
  assert.deepEqual(convert({ limit: '', level: '' }), {});
  assert.deepEqual(convert({ x: '1', Limit: '1', y: ['1', '2'] }), {});
});

test('a repeated parameter is rejected by name', () => {
  for (const twice of [['1', '1'], ['', ''], []]) {
    assert.throws(
      () => convert({ limit: '1', level: twice }),
      (error) =>
        error instanceof HttpError && error.status === 400 && error.message === 'level is given more than once',
    );
  }
});
