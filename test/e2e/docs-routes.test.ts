import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../src/app/package-info.ts';

interface Route {
  method: string;
  path: string;
  base: string;
  access: string;
  takesToken: boolean;
  takesKey: boolean;
  inQuery: unknown[];
  inBody: unknown[];
}

interface Modules {
  toGroups(openApi: unknown): { id: string; base: string; profile: string; routes: Route[] }[];
  toType(schema: unknown): string;
  toShape(schema: unknown): string;
  toFields(schema: unknown): { name: string; fields: unknown[] }[];
  toExample(schema: unknown, options?: { onlyRequired: boolean }): unknown;
}

const load = (name: string): Promise<Modules> =>
  import(pathToFileURL(join(packageRoot, 'public', 'openapi', name)).href);
const { toGroups } = await load('routes.js');
const { toType, toShape, toFields } = await load('schema.js');
const { toExample } = await load('example.js');

const readRoute = (path: string, operation: object): Route | undefined =>
  toGroups({ paths: { [path]: { post: operation } } })[0]?.routes[0];

test('a base path ends where the path of the profile begins', () => {
  const bases = {
    '/health': '/',
    '/api/tasks/{id}': '/',
    '/a/b/health': '/a/b',
    '/a/api/api/tasks': '/a/api',
  };
  for (const [path, base] of Object.entries(bases)) assert.equal(readRoute(path, {})?.base, base, path);
});

test('a route with a security scheme needs a token, and one with a 403 needs the role Admin', () => {
  const bearer = [{ bearer: [] }];
  assert.equal(readRoute('/a', { security: [], responses: { 403: {} } })?.access, 'open');
  assert.equal(readRoute('/a', { security: bearer, responses: { 401: {} } })?.access, 'token');
  assert.equal(readRoute('/a', { security: bearer, responses: { 401: {}, 403: {} } })?.access, 'admin');
});

test('groups follow the base paths of the document and then its tags, with unlisted tags last', () => {
  const operation = (tag: string) => ({ get: { tags: [tag] } });
  const groups = toGroups({
    tags: [{ name: 'one' }, { name: 'two' }],
    paths: {
      '/x': operation('unnamed'),
      '/p/api/a': operation('one'),
      '/api/b': operation('two'),
      '/api/a': operation('one'),
    },
  });
  assert.deepEqual(
    groups.map(({ id }) => id),
    ['/:one', '/:two', '/:unnamed', '/p:one'],
  );
});

test('a parameter with a default is optional, even if the document requires it', () => {
  const limit = { type: 'integer', minimum: 0, default: 50 };
  const parameters = [{ in: 'query', name: 'limit', required: true, schema: limit, description: 'Most.' }];
  assert.deepEqual(readRoute('/a', { parameters })?.inQuery, [
    {
      name: 'limit',
      type: 'integer',
      isRequired: false,
      rules: ['default 50', 'at least 0'],
      description: 'Most.',
      fields: [],
      choices: undefined,
      example: 50,
    },
  ]);
});

test('an open route that can refuse a role takes a token, and a route with the key scheme takes a key', () => {
  const events = readRoute('/a', { security: [], responses: { 200: {}, 403: {} } });
  assert.deepEqual([events?.takesToken, events?.takesKey], [true, false]);
  const metrics = readRoute('/a', { security: [{ bearer: [] }, { key: [] }], responses: { 401: {} } });
  assert.deepEqual([metrics?.takesToken, metrics?.takesKey], [true, true]);
  assert.equal(readRoute('/a', { security: [], responses: {} })?.takesToken, false);
});

test('the fields of lists, alternatives and objects in objects are listed with their own fields', () => {
  const inner = { type: 'object', properties: { name: { type: 'string' } } };
  const list = { type: 'array', items: { anyOf: [{ type: 'null' }, inner] } };
  const [data] = toFields({ type: 'object', properties: { data: list } });
  assert.equal(data?.name, 'data');
  assert.deepEqual(data?.fields, toFields(inner));
});

test('an example has the values of the schema, and as a request only its required members', () => {
  const schema = {
    type: 'object',
    required: ['at', 'list'],
    properties: {
      at: { type: 'string', format: 'date-time' },
      list: { type: 'array', items: { anyOf: [{ type: 'null' }, { type: 'integer', examples: [7] }] } },
      labels: { type: 'object', additionalProperties: { type: 'string', examples: ['critical'] } },
    },
  };
  const required = { at: '2026-01-31T09:30:00Z', list: [7] };
  assert.deepEqual(toExample(schema), { ...required, labels: { name: 'critical' } });
  assert.deepEqual(toExample(schema, { onlyRequired: true }), required);
});

test('types and shapes are shown in short form', () => {
  assert.equal(toType({ enum: ['Low', 'High'], type: 'string' }), '"Low" | "High"');
  assert.equal(toType({ anyOf: [{ const: true }, { type: ['string', 'null'] }] }), 'true | string | null');
  assert.equal(toType({ type: 'array', items: { type: 'integer' } }), 'integer[]');
  assert.equal(
    toType({ type: 'array', items: { anyOf: [{ type: 'number' }, { type: 'null' }] } }),
    '(number | null)[]',
  );
  assert.equal(toType({ type: 'object', additionalProperties: { type: 'string' } }), 'object of string');
  assert.equal(toType({}), 'any');
  const list = { type: 'object', properties: { count: { type: 'integer' }, data: { type: 'array' } } };
  assert.equal(toShape(list), '{count, data[]}');
  assert.equal(toShape({ type: 'array', items: list }), '[{count, data[]}, …]');
  assert.equal(toShape({ type: 'object' }), '{…}');
});

test('an empty document has no groups', () => {
  assert.deepEqual(toGroups({}), []);
  assert.deepEqual(toGroups({ paths: { '/a': {} } }), []);
});
