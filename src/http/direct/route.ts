import { parse } from 'node:querystring';
import type { FastifyInstance, RouteOptions } from 'fastify';
import type { TProperties } from 'typebox';
import { createQueryConversion } from '../request/query.ts';
import type { DirectInput, Respond, TextAnswer } from './answer.ts';

/** A route as requests are answered without Fastify. */
export interface DirectRoute {
  readsBody: boolean;
  /** The answer to a valid request; undefined where Fastify has to say what is wrong. */
  answer(segment: string, query: string, body?: unknown): TextAnswer | Promise<TextAnswer> | undefined;
}

/** Parts of a request: as schemas call them, and as answers do. */
const parts = [
  ['params', 'params'],
  ['querystring', 'query'],
  ['body', 'body'],
] as const;

/** What a query has that must be decoded, or ends it. */
const coded = /[%+#]/;

/** The route, whose path may end in one parameter, with the checks that Fastify has compiled from its schemas. */
export const createDirectRoute = (
  scope: FastifyInstance,
  options: RouteOptions,
  parameter: string | undefined,
  respond: Respond,
): DirectRoute => {
  const isValid = createCheck(scope, options);
  const toParams = createParamsMaker(parameter);
  const toQuery = createQueryReader(options);
  return {
    readsBody: options.schema?.body !== undefined,
    answer: (segment, text, body) => {
      // What is refused here is refused again, in words, by Fastify.
      try {
        const input = { params: toParams(segment), query: toQuery(text), body };
        const answer = isValid(input) ? respond(input) : undefined;
        return answer && 'rest' in answer && answer.rest ? undefined : answer;
      } catch {
        return undefined;
      }
    },
  };
};

/** A literal with a computed name would be made anew by V8's runtime, in 250 ns. */
const createParamsMaker = (parameter: string | undefined) => (segment: string) => {
  const params: Record<string, string> = {};
  if (parameter !== undefined) params[parameter] = segment;
  return params;
};

/** Reads what stands behind `?`; undefined, which is no valid query, where it has to be decoded. */
const createQueryReader = ({ schema }: RouteOptions): ((text: string) => object | undefined) => {
  const { properties } = (schema?.querystring ?? {}) as { properties?: TProperties };
  if (!properties) return () => undefined;
  const convert = createQueryConversion(properties);
  return (text) => (coded.test(text) ? undefined : convert(parse(text, '&', '=', { maxKeys: 0 })));
};

/** Whether a request has the shapes that the route's schemas give it. */
const createCheck = (scope: FastifyInstance, { schema, method, url }: RouteOptions) => {
  const checks = parts.flatMap(([httpPart, name]) => {
    const shape = schema?.[httpPart];
    if (shape === undefined || (httpPart === 'params' && isAnyText(shape))) return [];
    const validate = scope.validatorCompiler?.({ schema: shape, method: String(method), url, httpPart });
    return [(input: DirectInput): boolean => validate?.(input[name]) === true];
  });
  return (input: DirectInput): boolean => checks.every((check) => check(input));
};

/** Whether a schema asks of each parameter in a path no more than to be text, which it is. */
const isAnyText = (shape: unknown): boolean =>
  Object.values((shape as { properties?: object }).properties ?? {}).every(
    ({ type, description: _, ...rest }) => type === 'string' && Object.keys(rest).length === 0,
  );
