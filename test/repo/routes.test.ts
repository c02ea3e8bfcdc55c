import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { priorities, statuses } from '../../src/features/tasks/schema.ts';
import { startApp } from '../support/app.ts';
import { resolveReferences } from '../support/openapi.ts';
import {
  listServedRoutes,
  profileNames,
  readOperations,
  takesJson,
  toJsonSchema,
  toRouteName,
  withDatabase,
} from './support/api.ts';

interface OpenApi {
  paths: Record<string, { get: { parameters: { name: string; schema: { $ref?: string; type?: string } }[] } }>;
  components: { schemas: Record<string, { enum?: unknown }> };
}

test('the OpenAPI document has exactly the routes of the mounts and its own route', async (t) => {
  for (const profiles of [undefined, ['L'], ['T', 'M', 'A'], ['X', 'protected-tasks']]) {
    const app = await startApp(t, { settings: { profiles } });
    const expected = [...listServedRoutes(app).map(toRouteName), 'GET /openapi.json'];
    assert.deepEqual(Object.keys(await readOperations(app)).sort(), expected.sort());
  }
});

test('operation ids are readable, unique and independent of other mounts', async (t) => {
  const operations = await readOperations(await startApp(t));
  const ids = Object.values(operations).map(({ operationId }) => operationId);
  for (const id of ids) assert.match(id, /^[a-z]+(?:[A-Z][a-z]+)*$/);
  assert.deepEqual(ids, [...new Set(ids)]);
  assert.equal(operations['GET /api/tasks/{id}']?.operationId, 'getTask');
  assert.equal(operations['GET /protected/api/tasks/{id}']?.operationId, 'getTaskAtProtected');
  const alone = await readOperations(await startApp(t, { settings: { mounts: { '/a/b-c': ['tasks'] } } }));
  assert.equal(alone['GET /a/b-c/api/tasks/{id}']?.operationId, 'getTaskAtABC');
});

test('operation ids are unique on mounts with similar names or names without letters', async (t) => {
  const alike = { '/x': ['tasks'], '/X': ['tasks'], '/a/b': ['tasks'], '/a-b': ['tasks'], '/aB': ['tasks'] };
  const mounts = { ...alike, '/_': ['items', 'login'], '/~': ['items'] };
  const operations = await readOperations(await startApp(t, { settings: { mounts } }));
  const ids = Object.values(operations).map(({ operationId }) => operationId);
  assert.deepEqual(ids, [...new Set(ids)]);
  const lists = ['/x', '/X', '/a/b', '/a-b', '/aB'].map((base) => operations[`GET ${base}/api/tasks`]?.operationId);
  assert.deepEqual(lists, ['listTasksAtX', 'listTasksAtX_2', 'listTasksAtAB', 'listTasksAtAB_2', 'listTasksAtAB_3']);
  assert.equal(operations['POST /_/api/auth/login']?.operationId, 'loginAt_1');
  assert.equal(operations['GET /~/api/items']?.operationId, 'listItemsAt_2');
});

test('ids have the same types in paths and bodies', async (t) => {
  const { request } = await startApp(t);
  const { json } = await request<OpenApi>('GET', '/openapi.json');
  const typeOf = (path: string) => json.paths[path]?.get.parameters.find(({ name }) => name === 'id')?.schema.type;
  assert.equal(typeOf('/api/tasks/{id}'), 'integer');
  assert.equal(typeOf('/simple/api/tasks/{id}'), 'integer');
  assert.equal(typeOf('/api/alerts/{id}'), 'string');
});

test('operations have no inputs that the client would confuse', async (t) => {
  const app = await startApp(t, { settings: withDatabase });
  const operations = Object.entries(await readOperations(app)).filter(([, operation]) => takesJson(operation));
  for (const [name, { parameters = [], requestBody }] of operations) {
    const listIn = (place: string) => parameters.filter((each) => each.in === place).map((each) => each.name);
    const [params, query] = [listIn('path'), listIn('query')];
    const body = toJsonSchema(requestBody) as { type?: string; properties?: object } | undefined;
    // Callers of the client pass parameters and members of the body in one object.
    const twice = [...params, ...query].filter((key) => Object.hasOwn(body?.properties ?? {}, key));
    assert.deepEqual(twice, [], name);
    assert.ok(body === undefined || query.length === 0, `${name} has a body and a query`);
    assert.ok(body === undefined || params.length === 0 || body.type === 'object', `${name}: its body is no object`);
  }
});

test('operations describe each of their responses, and a response for any other error', async (t) => {
  for (const [name, { responses }] of Object.entries(await readOperations(await startApp(t)))) {
    assert.ok('default' in responses, name);
    for (const [status, { description }] of Object.entries(responses)) {
      assert.ok(description !== '' && description !== 'Default Response', `${name}: ${status}`);
    }
  }
});

test('the OpenAPI document names its shapes, and lists suggested values of filters that accept any text', async (t) => {
  const { request } = await startApp(t);
  const { json } = await request<OpenApi>('GET', '/openapi.json');
  const { schemas } = json.components;
  assert.deepEqual(schemas['TaskStatus']?.enum, statuses);
  assert.deepEqual(schemas['TaskPriority']?.enum, priorities);
  assert.deepEqual(
    json.paths['/api/tasks']?.get.parameters.map(({ name, schema }) => [name, schema.$ref]),
    [
      ['status', '#/components/schemas/TaskStatus'],
      ['priority', '#/components/schemas/TaskPriority'],
      ['limit', undefined],
      ['after', undefined],
      ['order', undefined],
      ['before', undefined],
      ['q', undefined],
    ],
  );
  const references = JSON.stringify(json).match(/(?<="\$ref":"#\/components\/schemas\/)\w+/g) ?? [];
  assert.deepEqual([...new Set(references)].sort(), Object.keys(schemas).sort());
  assert.equal((await request('GET', '/api/tasks?status=Unknown&priority=None')).status, 200);
});

test('every value in a shape has an example, and all examples are valid', async (t) => {
  const documents = [undefined, ['T'], ['protected-tasks']].map(async (profiles) => {
    const { request } = await startApp(t, { settings: { ...withDatabase, profiles } });
    return resolveReferences((await request<OpenApi>('GET', '/openapi.json')).json);
  });
  let count = 0;
  for (const { components, paths } of await Promise.all(documents)) {
    const own = Object.entries(components.schemas).filter(([name]) => !foreign.test(name));
    for (const schema of listSchemas(own)) {
      const isValue = ['string', 'integer', 'number', 'boolean'].includes(schema.type ?? '');
      if (isValue)
        assert.ok(
          sources.some((key) => key in schema),
          JSON.stringify(schema),
        );
      if (schema.enum) assert.ok(schema.type, JSON.stringify(schema));
    }
    for (const schema of listSchemas({ components, paths })) {
      for (const example of schema.examples ?? []) {
        assert.ok(Value.Check(schema as TSchema, example), `${JSON.stringify(example)}: ${JSON.stringify(schema)}`);
        count += 1;
      }
    }
  }
  assert.ok(count > 100, `${count} examples`);
});

/** Shapes of bodies that other programs define and document. */
const foreign = /^(Alertmanager|Prometheus|Grafana|UptimeKuma|CloudEvent|Slack|PagerDuty|Otlp)/;

/** Schema members in which clients find a valid value. */
const sources = ['examples', 'enum', 'const', 'default'];

interface Schema {
  type?: string;
  enum?: unknown[];
  examples?: unknown[];
}

/** Lists a value and all objects inside it, except objects in lists of examples. */
const listSchemas = (value: unknown): Schema[] => {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.entries(value).flatMap(([key, member]) => (key === 'examples' ? [] : listSchemas(member)));
  return Array.isArray(value) ? below : [value, ...below];
};

test('object schemas with the same title are equal', async (t) => {
  const shapes = new Map<string, string>();
  for (const profile of profileNames) {
    for (const { schema } of listServedRoutes(
      await startApp(t, { settings: { ...withDatabase, profiles: [profile] } }),
    )) {
      for (const [title, text] of listTitled(schema)) {
        assert.equal(text, shapes.get(title) ?? text, title);
        shapes.set(title, text);
      }
    }
  }
  assert.ok(shapes.size > 30);
});

/** Lists the objects in a value that have a title and properties, as JSON. */
const listTitled = (value: unknown): [string, string][] => {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.values(value).flatMap(listTitled);
  const isShape = 'properties' in value && 'title' in value && typeof value.title === 'string';
  return isShape ? [[value.title as string, JSON.stringify(value)], ...below] : below;
};
