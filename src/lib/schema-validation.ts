import type { TSchema } from 'typebox';
import { Compile, Errors, type Validator } from 'typebox/schema';

/** Schema rule that a value breaks, as reported by TypeBox. */
export interface SchemaError {
  keyword: string;
  /** JSON pointers (RFC 6901) into the schema and the value. */
  schemaPath: string;
  instancePath: string;
  params: object;
  message?: string;
}

/** Schema rule that a value breaks, described for people. */
export interface SchemaFault {
  keyword: string;
  /** Names and indexes leading to the faulty part of the value. */
  path: string[];
  /** Clause without the value, because it may be a secret: `must be a string`. */
  clause: string;
  /** Members that are missing from the faulty part, or that are unknown there. */
  members: string[];
}

/**
 * Creates a check of values against a schema. The schema is compiled when the first value is checked, because compiling
 * all schemas at once would take a fifth of startup.
 */
export const createSchemaCheck = (schema: TSchema): ((value: unknown) => boolean) => {
  let compiled: Validator | undefined;
  return (value) => {
    compiled ??= Compile(schema);
    return compiled.Check(value);
  };
};

/** Returns the first eight errors of a value. Takes many times longer than a check. */
export const listSchemaErrors = (schema: TSchema, value: unknown): SchemaError[] => Errors(schema, value)[1];

interface Wording {
  /** Schema with descriptions of the strings that are accepted. */
  schema?: TSchema;
  /** Names for values, by type. Set if they differ from the usual names. */
  nouns?: Readonly<Record<string, string>>;
}

/**
 * Describes errors. Leaves out errors about unknown members, because these are also reported for the object that has
 * the members.
 */
export const describeSchemaErrors = (errors: readonly SchemaError[], wording: Wording = {}): SchemaFault[] =>
  errors
    .filter(({ keyword }) => keyword !== 'boolean')
    .map((error) => {
      const { requiredProperties = [], additionalProperties = requiredProperties } = error.params as Params;
      return {
        keyword: error.keyword,
        path: error.instancePath.split('/').slice(1).map(toName),
        clause: describeError(error, wording),
        members: additionalProperties,
      };
    });

interface Params {
  additionalProperties?: string[];
  requiredProperties?: string[];
  allowedValues?: unknown[];
  limit?: number;
  format?: string;
  type?: string;
}

const describeError = ({ keyword, params, message, schemaPath }: SchemaError, { schema, nouns }: Wording): string => {
  const { additionalProperties, requiredProperties, allowedValues, limit, format, type = '' } = params as Params;
  if (additionalProperties) return `has unknown keys; remove ${additionalProperties.join(', ')}`;
  if (requiredProperties) return `must have ${requiredProperties.join(', ')}`;
  if (allowedValues) return `must be one of ${allowedValues.join(', ')}`;
  if (keyword === 'type') return `must be ${nouns?.[type] ?? usualNouns[type] ?? type}`;
  if (keyword === 'minimum') return `must be at least ${limit}`;
  if (keyword === 'maximum') return `must be at most ${limit}`;
  if (keyword === 'maxLength') return `must not exceed ${limit} characters`;
  if (keyword === 'maxItems') return `must not have more than ${limit} entries`;
  if (limit === 1 && keyword.startsWith('min')) return 'must not be empty';
  if (format === 'date-time') return 'must be an RFC 3339 time with an offset';
  if (!schema) return 'is not valid';
  return keyword === 'pattern' || keyword === 'anyOf' ? `must be ${findDescription(schema, schemaPath)}` : `${message}`;
};

const usualNouns: Record<string, string> = {
  string: 'a string',
  array: 'a list',
  object: 'an object',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

/**
 * Returns the description of part of a schema, as a clause. The part is given by its path, such as
 * `#/items/properties/passwordHash`.
 */
const findDescription = (schema: TSchema, path: string): string => {
  let part: unknown = schema;
  for (const key of path.split('/').slice(1)) part = (part as Record<string, unknown>)[toName(key)];
  const { description = 'in the documented format' } = part as { description?: string };
  return description.charAt(0).toLowerCase() + description.slice(1).replace(/\.$/, '');
};

/** Decodes one part of a JSON pointer. */
const toName = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');
