import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { startServer } from '../../../test/support/server.ts';

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
    [{ name: 'a', list: {} }, 'list must be array'],
    [{ name: 'a', on: 'true' }, 'on must be boolean'],
    [{ name: 'a', kind: 'c' }, 'kind must be one of a, b'],
    [{ name: 'a', list: [{}] }, 'list is required'],
    [{ name: 'a', list: [{}, { name: 1 }] }, 'list is required'],
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
