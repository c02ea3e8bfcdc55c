import { dateForm, dateForms, valuePattern } from '../language/parse.ts';
import { cimClasses } from './cim-classes.ts';
import { policies } from './policy.ts';
import type { CommandPolicy, ParameterPolicy, ValuePolicy } from './policy-shape.ts';

type Schema = Record<string, unknown>;

/**
 * Describes every allowed command with a JSON Schema (2020-12) of its parameters, from the policy that also decides what
 * is allowed. Lists are arrays, a switch is `true`. The schema cannot express the grammar of a filter, nor that a date
 * must exist.
 */
export const describeCommands = () =>
  Object.entries(policies).map(([name, policy]) => ({
    name,
    summary: policy.summary,
    parameters: toParametersSchema(policy),
  }));

/** Appended to the description of every parameter of a type. */
const hints: Partial<Record<ValuePolicy['type'], string>> = {
  pattern: 'Any case; * and ? are wildcards.',
  date: `${dateForms}, in local time without a zone.`,
  filter: "Property = value or Property LIKE 'a%_b', joined by AND.",
};

const toParametersSchema = ({ first, parameters, exclusive }: CommandPolicy): Schema => {
  const entries = Object.entries(parameters);
  const required = entries.filter(([, policy]) => policy.required).map(([name]) => name);
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(entries.map(([name, policy]) => [name, toParameterSchema(policy, name === first)])),
    ...(required.length > 0 && { required }),
    ...(exclusive.length > 0 && { allOf: exclusive.map((pair) => ({ not: { required: pair } })) }),
    ...(parameters['Property'] && { oneOf: listClasses() }),
  };
};

const listClasses = (): Schema[] =>
  Object.entries(cimClasses).map(([name, { properties }]) => ({
    properties: { ClassName: { const: name }, Property: { items: { enum: properties } } },
  }));

const toParameterSchema = (policy: ParameterPolicy, isFirst: boolean): Schema => {
  const { description, type, maxValues, default: standard } = policy;
  const value = toValueSchema(policy);
  const sentences = [description, hints[type], isFirst && 'Its name may be left out.'];
  return {
    description: sentences.filter(Boolean).join(' '),
    ...(maxValues === undefined ? value : { type: 'array', minItems: 1, maxItems: maxValues, items: value }),
    ...(standard !== undefined && { default: standard }),
  };
};

const toValueSchema = (policy: ValuePolicy): Schema => {
  switch (policy.type) {
    case 'pattern':
      return { ...toTextSchema(policy.maxLength), not: { pattern: String.raw`[\[\]]` } };
    case 'integer':
      return { type: 'integer', minimum: policy.min, maximum: policy.max };
    case 'choice':
      return { type: 'string', enum: policy.values };
    case 'date':
      return { type: 'string', pattern: dateForm.source };
    case 'switch':
      return { type: 'boolean', const: true };
    case 'property':
      return { type: 'string' };
    case 'filter':
      return toTextSchema(policy.maxLength);
  }
};

const toTextSchema = (maxLength: number): Schema => ({
  type: 'string',
  minLength: 1,
  maxLength,
  pattern: valuePattern,
});
