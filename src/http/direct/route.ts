import { parse } from 'node:querystring';
import type { FastifyInstance, RouteOptions } from 'fastify';
import type { TProperties } from 'typebox';
import { toTypedQuery } from '../query.ts';
import type { Respond, TextAnswer } from './answer.ts';

/** A route as requests are answered without Fastify. */
export interface DirectRoute {
  readsBody: boolean;
  /** The answer to a valid request; undefined where Fastify has to say what is wrong. */
  answer(segment: string, query: string, body?: unknown): TextAnswer | undefined;
}

type Part = 'params' | 'querystring' | 'body';
type IsValid = (value: unknown) => boolean;

/** What a query has that must be decoded, or ends it. */
const coded = /[%+#]/;

/** The route, whose path may end in one parameter, with the checks that Fastify has compiled from its schemas. */
export const createDirectRoute = (
  scope: FastifyInstance,
  options: RouteOptions,
  parameter: string | undefined,
  respond: Respond,
): DirectRoute => {
  const isValid = {
    params: createCheck(scope, options, 'params'),
    query: createCheck(scope, options, 'querystring'),
    body: createCheck(scope, options, 'body'),
  };
  const properties = (options.schema?.querystring as { properties: TProperties } | undefined)?.properties;
  const toQuery = (text: string) => (properties ? toTypedQuery(properties, parse(text)) : {});
  return {
    readsBody: options.schema?.body !== undefined,
    answer: (segment, text, body) => {
      if (coded.test(text)) return undefined;
      const params = parameter === undefined ? {} : { [parameter]: segment };
      // What is refused here is refused again, in words, by Fastify.
      try {
        const query = toQuery(text);
        if (!isValid.params(params) || !isValid.query(query) || !isValid.body(body)) return undefined;
        const answer = respond({ params, query, body });
        return answer.rest ? undefined : answer;
      } catch {
        return undefined;
      }
    },
  };
};

/** Whether the part of a request has the shape that the route's schema gives it. */
const createCheck = (scope: FastifyInstance, { schema, method, url }: RouteOptions, part: Part): IsValid => {
  const shape = schema?.[part];
  if (shape === undefined) return () => true;
  const validate = scope.validatorCompiler?.({ schema: shape, method: String(method), url, httpPart: part });
  return (value) => validate?.(value) === true;
};
