import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { startServer } from '../../test/support/server.ts';
import { HttpError } from './errors.ts';
import { createQueryConversion } from './validation.ts';

const body = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 3 }),
  size: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
  list: Type.Optional(Type.Array(Type.Object({ name: Type.String() }))),
  kind: Type.Optional(Type.Enum(['a', 'b'])),
  on: Type.Optional(Type.Boolean()),
});

const querystring = Type.Object({
  top: Type.Integer({ minimum: 1, maximum: 5, default: 2 }),
  sort: Type.Optional(Type.String()),
});

test('every invalid field is named with its first fault', async (t) => {
  const { request } = startServer(t, { schema: { body } });
  const cases: [unknown, string][] = [
    [{}, 'name is required'],
    [{ name: 1 }, 'name must be a string'],
    [{ name: '' }, 'name must not be empty'],
    [{ name: 'four' }, 'name must not exceed 3 characters'],
    [{ name: 'a', size: '1' }, 'size must be a whole number in decimal digits'],
    [{ name: 'a', size: 0 }, 'size must be at least 1'],
    [{ name: 'a', size: 6 }, 'size must be at most 5'],
    [{ name: 'a', list: {} }, 'list must be an array'],
    [{ name: 'a', on: 'true' }, 'on must be true or false'],
    [{ name: 'a', kind: 'c' }, 'kind must be one of a, b'],
    [{ name: 'a', list: [{}] }, 'list.0.name is required'],
    [{ name: 'a', list: [{}, { name: 1 }] }, 'list.0.name is required'],
    [{ name: 'four', size: 0.5 }, 'name must not exceed 3 characters; size must be a whole number in decimal digits'],
    [{ size: 6, kind: 'c' }, 'name is required; size must be at most 5; kind must be one of a, b'],
  ];
  for (const [sent, error] of cases) {
    const { status, json } = await request(JSON.stringify(sent));
    assert.deepEqual([status, json], [400, { error }], JSON.stringify(sent));
  }
});

test('a missing body is reported as required', async (t) => {
  const { request } = startServer(t, { schema: { body } });
  assert.deepEqual(await request(''), { status: 400, json: { error: 'Request body is required' } });
});

test('errors in the query are reported like those in a body', async (t) => {
  const { request } = startServer(t, { schema: { querystring } });
  assert.deepEqual(await request('', '?top=0'), { status: 400, json: { error: 'top must be at least 1' } });
  assert.deepEqual(await request('', '?top=x&sort=1&sort=2'), {
    status: 400,
    json: { error: 'sort is given more than once' },
  });
  assert.deepEqual(await request('', '?top=x'), {
    status: 400,
    json: { error: 'top must be a whole number in decimal digits' },
  });
  assert.deepEqual(await request('', '?top=5'), { status: 200, json: { query: { top: 5 } } });
  assert.deepEqual(await request('', '?top='), { status: 200, json: { query: { top: 2 } } });
});

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
