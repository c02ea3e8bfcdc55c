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
  inQuery: unknown[];
  inBody: unknown[];
  example?: unknown;
}

interface Modules {
  toGroups(openApi: unknown): { id: string; base: string; profile: string; routes: Route[] }[];
  toCommand(route: Partial<Route>, server: string): string;
  toType(schema: unknown): string;
  toShape(schema: unknown): string;
}

const load = (name: string): Promise<Modules> => import(pathToFileURL(join(packageRoot, 'public', name)).href);
const { toGroups, toCommand } = await load('routes.js');
const { toType, toShape } = await load('schema.js');

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
    },
  ]);
});

test('a command line quotes special characters of the shell, and includes a token if one is needed', () => {
  const route = { method: 'PUT', path: '/a/{id}', access: 'token', example: { name: "it's" } };
  assert.equal(
    toCommand(route, 'http://h:1'),
    `curl -X PUT -H "Authorization: Bearer $TOKEN" -d '{"name":"it'\\''s"}' 'http://h:1/a/1'`,
  );
});

test('types and shapes are shown in short form', () => {
  assert.equal(toType({ enum: ['Low', 'High'], type: 'string' }), '"Low" | "High"');
  assert.equal(toType({ anyOf: [{ const: true }, { type: ['string', 'null'] }] }), 'true | string | null');
  assert.equal(toType({ type: 'array', items: { type: 'integer' } }), 'integer[]');
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
