import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  ContextConfigDefault,
  FastifyBaseLogger,
  FastifySchema,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteGenericInterface,
  RouteOptions,
} from 'fastify';
import type { Access } from '../auth/guard.ts';
import { type Respond, sendAnswer, type TextAnswer } from '../http/direct/answer.ts';

type TypedRouteOptions<S extends FastifySchema> = RouteOptions<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  RouteGenericInterface,
  ContextConfigDefault,
  S,
  TypeBoxTypeProvider,
  FastifyBaseLogger
>;

/** A route as data: what mounts it, guards it, documents it and checks it for clashes reads this. */
export interface Route<S extends FastifySchema = FastifySchema>
  extends Pick<TypedRouteOptions<S>, 'handler' | 'preParsing' | 'preValidation' | 'schemaErrorFormatter'> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  access: Access;
  /** One line for people; becomes the operation's summary in the OpenAPI document. */
  summary: string;
  schema: S;
  /** The path is served with a trailing slash too. */
  looseSlash?: boolean;
  /** Name of a profile that wins where both define this method and path on one mount. */
  yieldsTo?: string;
  /** Makes the answer of a route that needs nothing but this. */
  respond?: Respond;
}

type Input<S extends FastifySchema> = Pick<Parameters<Route<S>['handler']>[0], 'params' | 'query' | 'body'>;

/** A route whose answer is JSON text, made from what is asked and nothing else. */
interface TextRoute<S extends FastifySchema> extends Omit<Route<S>, 'handler' | 'respond'> {
  /** Throws, if it does, before it has changed anything; a promise of an answer is always kept. */
  respond: (input: Input<S>) => TextAnswer | Promise<TextAnswer>;
}

/** Types a route's handler from its schemas. */
export const defineRoute = <const S extends FastifySchema>(route: Route<S>): Route =>
  route as unknown as Route;

/** Types a route's `respond` from its schemas; where the route is open, requests reach it by the shortest way. */
export const defineTextRoute = <const S extends FastifySchema>({
  respond,
  ...route
}: TextRoute<S>): Route => ({
  ...route,
  respond: respond as Respond,
  handler: (request, reply) => {
    const answer = respond(request as unknown as Input<S>);
    if (!(answer instanceof Promise)) return sendAnswer(reply, answer);
    return answer.then((made) => sendAnswer(reply, made));
  },
});
