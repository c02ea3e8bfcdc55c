import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/server/package-info.ts';
import { runCommand } from '../support/program.ts';

interface Validator {
  compile(schema: object): (value: unknown) => boolean;
}

/** Ajv for draft 2020-12, from Fastify's dependencies. */
const { Ajv2020 } = createRequire(import.meta.resolve('fastify'))('ajv/dist/2020') as {
  Ajv2020: new (options: object) => Validator;
};

const printSchema = async (): Promise<{ $schema: string; properties: object; required?: unknown }> =>
  JSON.parse((await runCommand(['config-schema'])).stdout);

const compileSchema = async () => new Ajv2020({ strict: true }).compile(await printSchema());

test('config-schema prints a JSON Schema of draft 2020-12 that requires no setting', async () => {
  const { $schema, required, properties } = await printSchema();
  assert.equal($schema, 'https://json-schema.org/draft/2020-12/schema');
  assert.equal(required, undefined);
  for (const key of ['port', 'mounts', 'users', 'jwtSecret']) assert.ok(Object.hasOwn(properties, key), key);
});

test('the printed schema accepts the shipped example and files with only a few keys', async () => {
  const isValid = await compileSchema();
  const example = JSON.parse(readFileSync(join(packageRoot, 'examples', 'signalbox.json'), 'utf8'));
  for (const file of [
    example,
    { port: 9001 },
    {},
    { $schema: './schema.json', cors: true },
    { $schema: 1 },
    { profiles: ['X', 'login'] },
    { mounts: { '/a.b/.c': ['T'] } },
    { jwtSecret: '🗝'.repeat(8) },
  ]) {
    assert.equal(isValid(file), true, JSON.stringify(file));
  }
});

test('the printed schema rejects unknown keys and values that the program refuses', async () => {
  const isValid = await compileSchema();
  const files = [
    { prot: 1 },
    { port: '9001' },
    { port: 70_000 },
    { users: [{ name: 'ada' }] },
    { mounts: { '/': [] } },
    { mounts: {} },
    ...['a', '/a/', '/docs', '/docs/x', '/a/..', '/./a'].map((base) => ({ mounts: { [base]: ['T'] } })),
    { mounts: { '/': ['Z'] } },
    { profiles: ['task'] },
    { jwtSecret: '1234567' },
    { jwtPreviousSecret: '' },
  ];
  for (const file of files) assert.equal(isValid(file), false, JSON.stringify(file));
});
