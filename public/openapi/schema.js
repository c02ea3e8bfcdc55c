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

/** The type in the notation of the page: `string`, `integer[]`, `(number | null)[]`, `"Low" | "High"`. */
export const toType = (schema = {}) => {
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const choices = toChoices(schema);
  if (choices) return choices.map((choice) => toType(choice)).join(' | ');
  if (schema.type === 'array') return toListType(toType(schema.items));
  if (schema.additionalProperties?.type) return `object of ${toType(schema.additionalProperties)}`;
  return [schema.type ?? 'any'].flat().join(' | ');
};

/** The alternatives of a schema; undefined if it has none. */
export const toChoices = ({ anyOf, oneOf }) => anyOf ?? oneOf;

/** The rules for a value besides its type, one phrase for each. */
const toRules = (schema = {}) => {
  const whole = toChoices(schema)?.find(({ type }) => type !== 'null') ?? schema;
  return Object.entries(phrases)
    .filter(([keyword]) => whole[keyword] !== undefined && whole[keyword] !== '')
    .map(([keyword, phrase]) => phrase(whole[keyword]));
};

/** The members of an object schema, in its order; for a list of objects or for alternatives, those of the object. */
export const toFields = (schema = {}) => {
  if (schema.type === 'array') return toFields(schema.items);
  const choices = toChoices(schema);
  if (choices) return choices.map((choice) => toFields(choice)).find(({ length }) => length > 0) ?? [];
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).map(([name, member]) => toField(name, member, required.includes(name)));
};

/** One member or parameter as the page shows it, with its own members. A member with a default may be left out. */
export const toField = (name, schema = {}, isRequired = false) => ({
  name,
  type: toType(schema),
  isRequired: isRequired && schema.default === undefined,
  rules: toRules(schema),
  description: schema.description ?? '',
  fields: toFields(schema),
});

/** The shape of a response: `{total, count, data[]}`. */
export const toShape = (schema) => {
  if (schema?.type === 'array') return `[${toShape(schema.items)}, …]`;
  if (schema?.type !== 'object') return toType(schema);
  const members = Object.entries(schema.properties ?? {});
  return `{${members.map(([name, { type }]) => `${name}${type === 'array' ? '[]' : ''}`).join(', ') || '…'}}`;
};

const follow = (document, reference) =>
  reference
    .split('/')
    .slice(1)
    .reduce((value, key) => value?.[key], document);

const toListType = (type) => (type.includes(' ') ? `(${type})[]` : `${type}[]`);

const blankless = ['\\S', '[^\\s\\u0085]'];

const phrases = {
  default: (value) => `default ${JSON.stringify(value)}`,
  minimum: (value) => `at least ${value}`,
  maximum: (value) => `at most ${value}`,
  minLength: (value) => (value === 1 ? 'not empty' : `at least ${value} characters`),
  maxLength: (value) => `at most ${value} characters`,
  pattern: (value) => (blankless.includes(value) ? 'not blank' : `matches \`${value}\``),
  format: (value) => `format ${value}`,
};
