import fc from 'fast-check';
import type { JsonSchema } from './operations.ts';

/** Meaningful strings for properties, by name. Strings for other properties are generated from the schema alone. */
export type Hints = Record<string, fc.Arbitrary<string>>;

const oddTexts = [
  ...['', ' ', '\u0085', '\u00a0', '\ufeff', '\u200b', '\0', '\u202e', 'null', 'true', '0', '__proto__'],
  ...['\ud800', 'x\udc00', '\ud83d\ude00'.repeat(200), 'e\u0301'.repeat(150), '"\\/\b\f\n\r\t', '\u2028\u2029'],
  ...['x'.repeat(200), 'x'.repeat(201), '$(id)', "' OR 1=1 --", '<script>', '../../etc/passwd', '%00', '{{7*7}}'],
];

/** Any text: ASCII, all of Unicode, lone surrogates. */
export const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 20 }),
  // The unit `binary` is avoided, because fast-check takes seconds to prepare it.
  fc.string({ unit: fc.nat(0x10ffff).map((point) => String.fromCodePoint(point)), maxLength: 20 }),
  fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), maxLength: 12 }),
  fc.constantFrom(...oddTexts),
);

const hugeNumbers = [1e308, -1e308, 2 ** 53, -(2 ** 53), 2 ** 63, 5e-324, -0, 0.1, -1, 4_294_967_296];

/** Any shallow JSON value. */
export const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.constantFrom(...hugeNumbers, true, false, null, [], {}, [[[]]], ['x'], { toString: 'x' }, { length: 1e9 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Any value without the member names that every route rejects, at any depth. */
const harmlessValue = anyValue.filter((value) => !/"(?:__proto__|constructor)"/.test(JSON.stringify(value)));

const harmlessName = fc.string({ maxLength: 9 }).filter((name) => name !== '__proto__');

/** Creates values that fit the schema. */
export const createValid = (schema: JsonSchema, hints: Hints, name = ''): fc.Arbitrary<unknown> => {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => createValid(one, hints, name)));
  switch (schema.type) {
    case 'object':
      return createObject(schema, hints);
    case 'integer':
      return createInteger(schema);
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(createValid(schema.items ?? {}, hints), { maxLength: 3 });
    case 'string':
      return createText(schema, hints[name] ?? text);
    default:
      return harmlessValue;
  }
};

/** Creates objects for the schema with one member that probably breaks a rule. */
export const createNear = (schema: JsonSchema, hints: Hints): fc.Arbitrary<unknown> => {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => createNear(one, hints)));
  if (schema.items) return fc.array(createNear(schema.items, hints), { minLength: 1, maxLength: 3 });
  const names = Object.keys(schema.properties ?? {});
  if (names.length === 0) return anyValue;
  return fc
    .tuple(createObject(schema, hints), fc.constantFrom(...names), anyValue, fc.boolean())
    .map(([value, name, wrong, leavesOut]) => {
      const { [name]: _, ...others } = value;
      return leavesOut ? others : { ...others, [name]: wrong };
    });
};

/** Creates objects with all required members, some other members, and occasionally an unknown member. */
const createObject = (
  { properties = {}, required = [], additionalProperties: member }: JsonSchema,
  hints: Hints,
): fc.Arbitrary<Record<string, unknown>> => {
  if (typeof member === 'object')
    return fc.dictionary(harmlessName, createValid(member, hints), {
      noNullPrototype: true,
      maxKeys: 4,
    });
  const known = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, createValid(property, hints, name)]),
  );
  const members = fc.record(known, { requiredKeys: required, noNullPrototype: true });
  if (member === false) return members;
  return fc
    .tuple(
      members,
      fc.oneof(
        { weight: 4, arbitrary: fc.constant(undefined) },
        {
          weight: 1,
          arbitrary: fc.tuple(fc.constantFrom('Id', 'unknown', '', 'CreatedAt', 'toString'), harmlessValue),
        },
      ),
    )
    .map(([value, extra]) => (extra ? { [extra[0]]: extra[1], ...value } : value));
};

const createInteger = ({ minimum = -(2 ** 53) + 1, maximum = 2 ** 53 - 1 }: JsonSchema) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: minimum, max: Math.min(maximum, minimum + 60) }) },
    { weight: 1, arbitrary: fc.bigInt(BigInt(minimum), BigInt(maximum)).map(Number) },
    { weight: 1, arbitrary: fc.constantFrom(minimum, maximum) },
  );

const createText = (
  { pattern = '', minLength = 0, maxLength = Number.POSITIVE_INFINITY, examples = [] }: JsonSchema,
  source: fc.Arbitrary<string>,
) => {
  const form = new RegExp(pattern, 'u');
  const known = examples.filter((example) => typeof example === 'string');
  // Random texts rarely match a strict pattern.
  const texts = known.length > 0 ? fc.oneof(source, fc.constantFrom(...known)) : source;
  return texts.filter((value) => {
    const { length } = [...value];
    return form.test(value) && length >= minLength && length <= maxLength;
  });
};
