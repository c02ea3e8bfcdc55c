import type { CommandDescription } from 'signalbox/client';

/** Entered values by parameter. Lists are comma-separated. A switch that is on has the value `on`. */
export type Values = Record<string, string>;

/** Form field, derived from the parameters' JSON Schema. */
export interface Parameter {
  name: string;
  description: string;
  kind: 'text' | 'number' | 'date' | 'switch' | 'choice' | 'choices';
  isList: boolean;
  isRequired: boolean;
  options: readonly string[];
  standard: string | undefined;
  /** Parameter whose value rules out this parameter. */
  excludedBy: string | undefined;
}

interface ValueSchema {
  type?: string;
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: string[];
  pattern?: string;
  items?: ValueSchema;
}

interface ParametersSchema {
  properties?: Record<string, ValueSchema>;
  required?: string[];
  allOf?: { not?: { required?: string[] } }[];
  oneOf?: { properties?: Record<string, ValueSchema> }[];
}

/** Lists the fields of the form. Some fields depend on the values of other fields. */
export const listParameters = ({ parameters }: CommandDescription, values: Values): Parameter[] => {
  const { properties = {}, required = [], allOf = [], oneOf = [] } = parameters as ParametersSchema;
  const variant = oneOf.find(({ properties: each = {} }) =>
    Object.entries(each).every(([name, schema]) => schema.const === undefined || schema.const === values[name]),
  );
  return Object.entries(properties).map(([name, schema]) => {
    const value: ValueSchema = { ...(schema.items ?? schema), ...variant?.properties?.[name]?.items };
    const kind = toKind(value);
    const isList = schema.type === 'array';
    return {
      name,
      isList,
      description: schema.description ?? '',
      options: value.enum ?? [],
      kind: kind === 'choice' && isList ? 'choices' : isList && kind === 'number' ? 'text' : kind,
      isRequired: required.includes(name),
      standard: schema.default === undefined ? undefined : String(schema.default),
      excludedBy: allOf
        .map(({ not }) => not?.required ?? [])
        .filter((group) => group.includes(name))
        .flat()
        .find((other) => other !== name && values[other]),
    };
  });
};

const toKind = ({ type, enum: options, pattern }: ValueSchema): Parameter['kind'] => {
  if (options) return 'choice';
  if (type === 'boolean') return 'switch';
  if (type === 'integer' || type === 'number') return 'number';
  return pattern !== undefined && isOfDates(pattern) ? 'date' : 'text';
};

const isOfDates = (pattern: string): boolean => {
  const form = new RegExp(pattern, 'u');
  return form.test('2026-01-31T09:30') && !form.test('text');
};

/** Value that needs no quotes in the server's grammar and is not a parameter name. */
const plain = /^(?!-)[\p{L}\p{M}\p{N}\-_.*?:/\\%+=!~^[\]]+$/u;

/** Returns the command line for the entered values. */
export const toCommandLine = (name: string, parameters: Parameter[], values: Values): string => {
  const parts = parameters.flatMap((each) => {
    const given = each.excludedBy ? [] : listValues(each, values[each.name] ?? '');
    if (given.length === 0) return [];
    if (each.kind === 'switch') return [`-${each.name}`];
    const isInList = given.length > 1;
    return [`-${each.name} ${given.map((value) => quote(value, isInList)).join(',')}`];
  });
  return [name, ...parts].join(' ');
};

const listValues = ({ isList }: Parameter, value: string): string[] =>
  (isList ? value.split(',') : [value]).map((each) => each.trim()).filter((each) => each !== '');

/** Value such as 1kb that PowerShell may parse as a number and rewrite. The server refuses such values in a list. */
const rewritten = /^(?!(?:0|[1-9]\d{0,15})$)\+?\.?\d/;

/** Adds quotes. Text with both kinds of quotes cannot be quoted, so the server refuses it with a reason. */
const quote = (value: string, isInList: boolean): string => {
  if (plain.test(value) && !(isInList && rewritten.test(value))) return value;
  return value.includes("'") ? `"${value}"` : `'${value}'`;
};
