import type { TSchema, TUnion } from 'typebox';
import { Value } from 'typebox/value';
import { isSecret, textForm } from './schema.ts';

interface Constraints {
  enum?: readonly string[];
  minimum?: number;
  maximum?: number;
}

/**
 * Why a value is not valid for a setting, as clauses; none if it is valid.
 * `place` is where the value came from: `--port`, `SIGNALBOX_PORT`, `port in settings.json`.
 */
export const findProblems = (schema: TSchema, value: unknown, place: string): string[] => {
  if ('anyOf' in schema) return findChoiceProblems(schema as TUnion, value, place);
  const errors = Value.Errors(schema, value);
  if (errors.length === 0) return [];
  const form = textForm(schema);
  if (form === 'none' || (form === 'list' && Array.isArray(value))) {
    const reported = dropBranches(errors).filter(({ keyword }) => keyword !== 'boolean');
    return [
      ...new Set(
        reported.map((error) => `${place}${toPlaceWithin(error.instancePath)} ${describeError(error, schema)}`),
      ),
    ];
  }
  // Paths are the only settings with a pattern.
  const detail = errors.some(({ keyword }) => keyword === 'pattern') ? ' without NUL characters' : '';
  return [
    `${place} must be ${describeValues(schema, form)}${detail}${isSecret(schema) ? '' : `, not ${JSON.stringify(value)}`}`,
  ];
};

/** Of a setting that is a word or, in the config file, an object. */
const findChoiceProblems = ({ anyOf }: TUnion, value: unknown, place: string): string[] => {
  const [word, object] = anyOf as [TSchema, TSchema];
  if (typeof value === 'object' && value !== null) return findProblems(object, value, place);
  return findProblems(word, value, place);
};

type SchemaError = ReturnType<typeof Value.Errors>[number];

/** Without the errors of a union's branches, which contradict each other: the union's own error says what it takes. */
const dropBranches = (errors: readonly SchemaError[]): SchemaError[] => {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf').map(({ schemaPath }) => `${schemaPath}/anyOf/`);
  return errors.filter(({ schemaPath }) => !unions.some((union) => schemaPath.startsWith(union)));
};

interface Params {
  additionalProperties?: string[];
  requiredProperties?: string[];
  allowedValues?: string[];
  limit?: number;
  format?: string;
  type?: string;
}

/** The error as a clause without the value, which may be a secret. */
export const describeError = ({ keyword, params, message, schemaPath }: SchemaError, schema: TSchema): string => {
  const { additionalProperties, requiredProperties, allowedValues, limit, format, type = '' } = params as Params;
  if (additionalProperties) return `has unknown keys; remove ${additionalProperties.join(', ')}`;
  if (requiredProperties) return `must have ${requiredProperties.join(', ')}`;
  if (allowedValues) return `must be one of ${allowedValues.join(', ')}`;
  if (keyword === 'pattern' || keyword === 'anyOf') return `must be ${findDescription(schema, schemaPath)}`;
  if (format === 'date-time') return 'must be a time as in RFC 3339 with its offset';
  if (keyword === 'type') return `must be ${types[type] ?? type}`;
  if (keyword === 'minimum') return `must be at least ${limit}`;
  if (keyword === 'maximum') return `must be at most ${limit}`;
  return limit === 1 && keyword.startsWith('min') ? 'must not be empty' : message;
};

const types: Record<string, string> = {
  string: 'a string',
  array: 'a list',
  object: 'an object',
  integer: 'a whole number',
  boolean: 'true or false',
};

/** The description of the part of the schema at a path like `#/items/properties/passwordHash`, as a clause. */
const findDescription = (schema: TSchema, path: string): string => {
  let part: unknown = schema;
  for (const key of path.split('/').slice(1)) part = (part as Record<string, unknown>)[key];
  const { description = 'in another format' } = part as { description?: string };
  return description.charAt(0).toLowerCase() + description.slice(1).replace(/\.$/, '');
};

const toPlaceWithin = (pointer: string): string => (pointer === '' ? '' : ` at ${toDottedPath(pointer)}`);

/** Turns a JSON pointer (RFC 6901) into `users.0.name`. */
const toDottedPath = (pointer: string): string =>
  pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');

const describeValues = (schema: TSchema, form: 'flag' | 'integer' | 'list' | 'string'): string => {
  const { enum: values, minimum, maximum } = schema as Constraints;
  if (values) return `one of ${values.join(', ')}`;
  const descriptions = {
    flag: 'true or false',
    integer: `a whole number${describeRange(minimum, maximum)}`,
    list: 'a list of names',
    string: 'a non-empty string',
  };
  return descriptions[form];
};

const describeRange = (minimum?: number, maximum?: number): string => {
  if (minimum === undefined) return '';
  return maximum === undefined ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`;
};
