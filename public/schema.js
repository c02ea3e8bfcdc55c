/**
 * Describes JSON Schemas in words. All functions are pure, and any part of a schema may be missing.
 */

/** A JSON document with each `$ref`, such as `#/components/schemas/Task`, replaced by its target. */
export const resolveReferences = (document, value = document) => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => resolveReferences(document, each));
  if (typeof value.$ref === 'string') return resolveReferences(document, follow(document, value.$ref));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolveReferences(document, member)]));
};

/** The type in the notation of the page: `string`, `integer[]`, `"Low" | "High"`. */
export const toType = (schema = {}) => {
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map((choice) => toType(choice)).join(' | ');
  if (schema.type === 'array') return `${toType(schema.items)}[]`;
  return [schema.type ?? 'any'].flat().join(' | ');
};

/** The rules for a value besides its type, one phrase for each. */
export const toRules = (schema = {}) =>
  Object.entries(phrases)
    .filter(([keyword]) => schema[keyword] !== undefined)
    .map(([keyword, phrase]) => phrase(schema[keyword]));

/** The members of an object schema, in its order. A member with a default may be left out. */
export const toFields = ({ properties = {}, required = [] } = {}) =>
  Object.entries(properties).map(([name, schema]) => toField(name, schema, required.includes(name)));

/** One member or parameter as the page shows it. */
export const toField = (name, schema = {}, isRequired = false) => ({
  name,
  type: toType(schema),
  isRequired: isRequired && schema.default === undefined,
  rules: toRules(schema),
  description: schema.description ?? '',
});

/** The shape of a response: `{total, count, data[]}`. */
export const toShape = (schema) => {
  if (schema?.type === 'array') return `[${toShape(schema.items)}, …]`;
  if (schema?.type !== 'object') return toType(schema);
  const members = Object.entries(schema.properties ?? {});
  return `{${members.map(([name, { type }]) => `${name}${type === 'array' ? '[]' : ''}`).join(', ') || '…'}}`;
};

/** An example body: the required members, or all if none is required. */
export const toExample = ({ properties = {}, required = [] } = {}) => {
  const names = required.length > 0 ? required : Object.keys(properties);
  return Object.fromEntries(names.map((name) => [name, toSample(properties[name])]));
};

const follow = (document, reference) =>
  reference
    .split('/')
    .slice(1)
    .reduce((value, key) => value?.[key], document);

const phrases = {
  default: (value) => `default ${JSON.stringify(value)}`,
  minimum: (value) => `at least ${value}`,
  maximum: (value) => `at most ${value}`,
  minLength: (value) => (value === 1 ? 'not empty' : `at least ${value} characters`),
  maxLength: (value) => `at most ${value} characters`,
  pattern: (value) => (value === '\\S' ? 'not blank' : `matches ${value}`),
  format: (value) => `format ${value}`,
};

const toSample = (schema = {}) =>
  schema.default ?? schema.examples?.[0] ?? schema.const ?? schema.enum?.[0] ?? samples[schema.type] ?? null;

const samples = { string: '…', integer: 0, number: 0, boolean: false, array: [], object: {} };
