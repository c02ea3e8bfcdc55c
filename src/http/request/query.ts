import type { FastifyInstance } from 'fastify';
import type { TProperties } from 'typebox';
import { HttpError } from '../response/errors.ts';

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
