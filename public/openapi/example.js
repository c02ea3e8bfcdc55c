import { toChoices } from './schema.js';

/**
 * An example value of a schema: the schema's own, or one made of its parts. Of an object it has all members, or with
 * `onlyRequired` those that must be sent (all if none must).
 */
export const toExample = (schema = {}, { onlyRequired = false } = {}) => {
  const own = schema.examples?.[0] ?? schema.default ?? schema.const ?? schema.enum?.[0];
  if (own !== undefined) return own;
  const choice = toChoices(schema)?.find(({ type }) => type !== 'null');
  if (choice) return toExample(choice, { onlyRequired });
  if (schema.type === 'array') return schema.items ? [toExample(schema.items, { onlyRequired })] : [];
  if (schema.type === 'object' || schema.properties) return toObject(schema, onlyRequired);
  return samples[schema.format] ?? samples[schema.type] ?? null;
};

const toObject = ({ properties = {}, required = [], additionalProperties }, onlyRequired) => {
  const names = onlyRequired && required.length > 0 ? required : Object.keys(properties);
  if (names.length === 0 && additionalProperties?.type) return { name: toExample(additionalProperties) };
  return Object.fromEntries(names.map((name) => [name, toExample(properties[name], { onlyRequired })]));
};

const samples = { string: '…', integer: 0, number: 0, boolean: false, 'date-time': '2026-01-31T09:30:00Z' };
