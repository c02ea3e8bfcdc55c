import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { textForm } from './schema.ts';

interface Constraints {
  enum?: readonly string[];
  minimum?: number;
  maximum?: number;
}

/**
 * Why a value does not fit a setting, as clauses; none if it fits.
 * `place` is where the value came from: `--port`, `SIGNALBOX_PORT`, `port in settings.json`.
 */
export const findProblems = (schema: TSchema, value: unknown, place: string): string[] => {
  const errors = Value.Errors(schema, value);
  if (errors.length === 0) return [];
  const form = textForm(schema);
  if (form === 'none' || (form === 'list' && Array.isArray(value))) {
    return [...new Set(errors.map((error) => `${place}${toPlaceWithin(error.instancePath)} ${error.message}`))];
  }
  return [
    `${place} must be ${describeValues(schema, form)}${'secret' in schema ? '' : `, not ${JSON.stringify(value)}`}`,
  ];
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
