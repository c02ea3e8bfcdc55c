import type { TSchema, TUnion } from 'typebox';
import { describeSchemaErrors, listSchemaErrors, type SchemaError } from '../schema-validation.ts';
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
  const errors = listSchemaErrors(schema, value);
  if (errors.length === 0) return [];
  const form = textForm(schema);
  if (form === 'none' || (form === 'list' && Array.isArray(value))) {
    const faults = describeSchemaErrors(dropBranches(errors), { schema });
    return [
      ...new Set(
        faults.map(({ path, clause }) => `${place}${path.length > 0 ? ` at ${path.join('.')}` : ''} ${clause}`),
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

/** Without the errors of a union's branches, which contradict each other: the union's own error says what it takes. */
const dropBranches = (errors: readonly SchemaError[]): SchemaError[] => {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf').map(({ schemaPath }) => `${schemaPath}/anyOf/`);
  return errors.filter(({ schemaPath }) => !unions.some((union) => schemaPath.startsWith(union)));
};

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
