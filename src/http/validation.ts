import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import type { TProperties, TSchema } from 'typebox';
import {
  createSchemaCheck,
  describeSchemaErrors,
  listSchemaErrors,
  type SchemaError,
} from '../lib/schema-validation.ts';
import { HttpError } from './errors.ts';

type CompilersFactory = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;

/** Builds validators with TypeBox. Without this option, Fastify would load a validator itself. */
export const buildValidator = (() => (route: { schema: TSchema }) => {
  const isValid = createSchemaCheck(route.schema);
  return (value: unknown) => isValid(value) || { error: listSchemaErrors(route.schema, value) };
}) as unknown as NonNullable<CompilersFactory['buildValidator']>;

/**
 * Maximum length of a field's path in a message, in characters. Needed because clients choose the names within a field.
 */
const longestPlace = 200;

const nouns = {
  integer: 'a whole number in decimal digits',
  array: 'an array',
  boolean: 'true or false',
  number: 'a number',
};

/**
 * Joins validation errors into one error. It has one clause for each top-level field, about the first error of that
 * field.
 */
export const toValidationRefusal = (errors: readonly SchemaError[]): HttpError => {
  const clauses = new Map<string, string>();
  for (const { keyword, path, clause, members } of describeSchemaErrors(errors, { nouns })) {
    const [field] = path;
    const place = path.join('.').slice(0, longestPlace);
    for (const name of field === undefined ? members : [field]) {
      if (clauses.has(name)) continue;
      const missing = field === undefined ? name : `${place}.${members[0]}`;
      const isAlone = field === undefined || members.length === 1;
      clauses.set(name, keyword === 'required' && isAlone ? `${missing} is required` : `${place || name} ${clause}`);
    }
  }
  return new HttpError('invalid', [...clauses.values()].join('; ') || 'Request body is required');
};

type Query = Record<string, unknown>;

/**
 * Converts query parameters to the types in a route's query schema before validation. Decimal digits become numbers.
 * Defaults replace absent and empty values. Other values stay unchanged and fail validation.
 */
export const convertQueries = (app: FastifyInstance): void => {
  app.addHook('onRoute', (route) => {
    const schema = route.schema?.querystring as { properties: TProperties } | undefined;
    if (!schema) return;
    const convert = createQueryConversion(schema.properties);
    const hooks = route.preValidation ?? [];
    route.preValidation = [
      (request, _reply, done) => {
        request.query = convert(request.query as Query);
        done();
      },
      ...(Array.isArray(hooks) ? hooks : [hooks]),
    ];
  });
};

/**
 * Creates a function that converts the parameters in `properties` and drops all others. It throws an HttpError for a
 * repeated parameter that is not a list.
 */
export const createQueryConversion = (properties: TProperties): ((query: Query) => Query) => {
  const parameters = Object.entries(properties).map(([name, schema]) => ({
    name,
    isNumber: (schema as { type?: string }).type === 'integer',
    isList: (schema as { type?: string }).type === 'array',
    usual: (schema as { default?: unknown }).default,
  }));
  return (query) => {
    const typed: Query = {};
    for (const { name, isNumber, isList, usual } of parameters) {
      const value = query[name];
      if (value === undefined || value === '') {
        if (usual !== undefined) typed[name] = usual;
        continue;
      }
      if (isList) {
        typed[name] = [value].flat();
        continue;
      }
      if (typeof value !== 'string') throw new HttpError('invalid', `${name} is given more than once`);
      typed[name] = isNumber ? toNumber(value) : value;
    }
    return typed;
  };
};

/**
 * Converts digits to a number, at most the largest number that a double holds exactly, because any larger number also
 * means "all".
 */
const toNumber = (text: string): number | string =>
  /^[0-9]+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : text;
