import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { TObject, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { startApp } from '../support/app.ts';
import { type Operation, profileNames, readOperations, toJsonSchema, withDatabase } from './support/api.ts';
import { findSection, readText, toBlocks, toSections } from './support/documents.ts';

interface Described {
  /** `PROFILE METHOD /path`. */
  name: string;
  text: string;
  operation: Operation;
}

const api = readText('docs/api.md');

/** Responses common to most routes, which are described once. */
const general = ['413', '503', 'default'];
const generalRules = findSection(api, 'General rules');

const readDescribed = async (t: TestContext): Promise<Described[]> => {
  const lists = profileNames.map(async (profile) => {
    const operations = await readOperations(await startApp(t, { settings: { ...withDatabase, profiles: [profile] } }));
    const sections = toSections(findSection(api, profile), 3).slice(1);
    return sections.flatMap(({ title, text }) => {
      const operation = operations[title];
      return operation ? [{ name: `${profile} ${title}`, text, operation }] : [];
    });
  });
  return (await Promise.all(lists)).flat();
};

const namesOf = (schema: TSchema | undefined): string[] =>
  Object.keys((schema as TObject | undefined)?.properties ?? {});

/** The keys of an object, and of the first object in each list below it, in order. */
const listKeys = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return listKeys(value[0]);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).map(([key, member]) => [key, ...listKeys(member)]);
};

/** The keys of the value in the order of the schema. */
const listKeysBySchema = (schema: TSchema, value: unknown): unknown[] => {
  const { items, properties } = schema as { items?: TSchema; properties?: Record<string, TSchema> };
  if (items) return listKeysBySchema(items, (value as unknown[])[0]);
  const object = value as Record<string, unknown>;
  const known = Object.entries(properties ?? {}).filter(([key]) => key in object);
  return properties && known.length > 0
    ? known.map(([key, member]) => [key, ...listKeysBySchema(member, object[key])])
    : listKeys(value);
};

test('each route is described with its statuses, its query parameters and the fields of its body', async (t) => {
  for (const { name, text, operation } of await readDescribed(t)) {
    for (const status of Object.keys(operation.responses)) {
      const place = general.includes(status) ? generalRules : text;
      assert.match(place, new RegExp(`\\b${status}\\b`), `${name}: ${status}`);
    }
    const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
    const fields = [...parameters.map((parameter) => parameter.name), ...namesOf(toJsonSchema(operation.requestBody))];
    for (const field of fields) assert.ok(text.includes(`\`${field}\``), `${name}: ${field}`);
  }
});

test('the first example of each description is a response of the right shape and order', async (t) => {
  for (const { name, text, operation } of await readDescribed(t)) {
    const { content } = operation.responses['200'] ?? {};
    if (content && !('application/json' in content)) continue;
    const [block] = toBlocks(text, 'text');
    const { '200': ok, '201': created, '202': accepted } = operation.responses;
    const schema = toJsonSchema(ok ?? created ?? accepted);
    assert.ok(block && schema, name);
    const example = JSON.parse(block);
    assert.deepEqual([...Value.Errors(schema, example)], [], name);
    assert.deepEqual(listKeys(example), listKeysBySchema(schema, example), name);
  }
});
