import fc from 'fast-check';
import { oddIds, oddNumbers, oddPaths, oddQueries } from './odd-targets.ts';
import type { JsonSchema, Operation, Parameter } from './operations.ts';
import { createValid, type Hints, text } from './values.ts';

/** Creates valid targets: existing ids, and query values that fit. */
export const createValidTarget = (operation: Operation, hints: Hints): fc.Arbitrary<string> =>
  createTarget(operation, fc.integer({ min: 1, max: 40 }).map(String), ({ schema, name }) =>
    createValid(schema, hints, name).map(encode),
  );

/** Creates targets with the operation's path and possibly invalid ids and query values. */
export const createNearTarget = (operation: Operation): fc.Arbitrary<string> =>
  createTarget(operation, fc.constantFrom(...oddIds), ({ schema }) => createOddValue(schema));

/** Creates any target, including strings that are not paths. */
export const createHostileTarget = (operations: readonly Operation[]): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom(...oddPaths),
    fc
      .tuple(fc.constantFrom(...operations), fc.constantFrom(...oddQueries))
      .map(([{ path }, query]) => `${path}?${query}`),
    fc.tuple(fc.constantFrom(...operations), fc.constantFrom(...oddPaths)).map(([{ path }, tail]) => path + tail),
    fc
      .string({ unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)) })
      .map((tail) => `/${tail}`),
  );

const createTarget = (
  { path, parameters }: Operation,
  id: fc.Arbitrary<string>,
  createValue: (parameter: Parameter) => fc.Arbitrary<string>,
): fc.Arbitrary<string> => {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const values = Object.fromEntries(query.map((parameter) => [parameter.name, createValue(parameter)]));
  return fc.tuple(id, fc.record(values, { requiredKeys: [], noNullPrototype: true })).map(([place, given]) => {
    const pairs = Object.entries(given).map(([name, value]) => `${name}=${value}`);
    return path.replace(/\{\w+\}/, place) + (pairs.length > 0 ? `?${pairs.join('&')}` : '');
  });
};

const createOddValue = (schema: JsonSchema): fc.Arbitrary<string> =>
  schema.type === 'integer' ? fc.constantFrom(...oddNumbers) : text.map(encode);

/** Returns percent-encoded UTF-8. A lone surrogate becomes U+FFFD. */
const encode = (value: unknown): string => encodeURIComponent(Buffer.from(String(value)).toString());
