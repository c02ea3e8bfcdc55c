import type { FastifyInstance } from 'fastify';
import type { TProperties } from 'typebox';
import { HttpError } from '../response/errors.ts';

type Query = Record<string, unknown>;

/**
 * Turns query text into the types of a route's query schema before it is checked: plain decimal digits into
 * numbers, an empty value into an absent one. What does not fit stays as it is, for the check to refuse.
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
 * Makes the function that converts the parameters that `properties` names, and leaves out all others. It throws an
 * HttpError for a doubled one.
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

/** Numbers past what a double holds exactly mean "all there is" just as well as the largest that it does. */
const toNumber = (text: string): number | string =>
  /^[0-9]+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : text;
