import type { BuildCompilerFromPool } from '@fastify/ajv-compiler';
import AjvCompiler from '@fastify/ajv-compiler';
import type { FastifyInstance, FastifySchemaValidationError } from 'fastify';
import type { TProperties } from 'typebox';
import { HttpError } from './errors.ts';

const customOptions = {
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: true,
  allErrors: true,
  keywords: ['documentedType' as const],
  // The schemas are part of the program and always valid; compiling the schema of schemas would take 20 ms.
  validateSchema: false,
  meta: false,
};

/** Compiles each schema when its first value is checked: compiling all of them was a fifth of startup. */
export const buildValidator: BuildCompilerFromPool = () => {
  const compile = AjvCompiler()({}, { customOptions });
  return (route) => {
    let validate: ReturnType<typeof compile> | undefined;
    const check = (value: unknown) => {
      validate ??= compile(route);
      const isValid = validate(value);
      check.errors = validate.errors ?? null;
      return isValid;
    };
    check.errors = null as ReturnType<typeof compile>['errors'];
    return check as ReturnType<typeof compile>;
  };
};

type ValidationError = FastifySchemaValidationError & { data?: unknown };

/** Characters of a place in a message: names within a field are the client's own. */
const longestPlace = 200;

/** Joins validation errors into one: a clause for each field, with its first error only. */
export const toRefusal = (errors: ValidationError[]): HttpError => {
  const clauses = new Map<string, string>();
  for (const error of errors) {
    const field = fieldOf(error);
    if (!clauses.has(field)) clauses.set(field, describeFault(placeOf(error), error));
  }
  return new HttpError('invalid', [...clauses.values()].join('; '));
};

/** The top-level field that an error is about; empty for the body itself. */
export const fieldOf = ({ instancePath, params }: FastifySchemaValidationError): string =>
  instancePath.split('/')[1] ?? (params['missingProperty'] as string | undefined) ?? '';

/** The same; of a value with a wrong type also where it is in the field: `labels.team`. */
const placeOf = (error: FastifySchemaValidationError): string => {
  const parts = error.instancePath.split('/').slice(1);
  const names = parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return error.keyword === 'type' && names.length > 1 ? names.join('.').slice(0, longestPlace) : fieldOf(error);
};

const describeFault = (field: string, { keyword, params }: ValidationError): string => {
  if (field === '') return 'Request body is required';
  switch (keyword) {
    case 'required':
      return `${field} is required`;
    case 'type':
      return `${field} must be ${nouns[params['type'] as string] ?? params['type']}`;
    case 'maxLength':
      return `${field} must not exceed ${params['limit']} characters`;
    case 'minLength':
      return `${field} must not be empty`;
    case 'enum':
      return `${field} must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`;
    case 'minimum':
      return `${field} must be at least ${params['limit']}`;
    case 'maximum':
      return `${field} must be at most ${params['limit']}`;
    default:
      return `${field} is not valid`;
  }
};

const nouns: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number in decimal digits',
  object: 'an object',
};

type Query = Record<string, unknown>;

/**
 * Converts query parameters to the types of a route's query schema before validation: decimal digits become numbers,
 * empty values are dropped. Other values stay as they are and fail validation.
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
 * Creates the function that converts the parameters in `properties` and drops all others. It throws an HttpError for a
 * repeated one.
 */
export const createQueryConversion = (properties: TProperties): ((query: Query) => Query) => {
  const parameters = Object.entries(properties).map(([name, schema]) => ({
    name,
    isNumber: (schema as { type?: string }).type === 'integer',
  }));
  return (query) => {
    const typed: Query = {};
    for (const { name, isNumber } of parameters) {
      const value = query[name];
      if (value === undefined || value === '') continue;
      if (typeof value !== 'string') throw new HttpError('invalid', `${name} is given more than once`);
      typed[name] = isNumber ? toNumber(value) : value;
    }
    return typed;
  };
};

/** Caps numbers at the largest that a double holds exactly: both mean "all". */
const toNumber = (text: string): number | string =>
  /^[0-9]+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : text;
