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
import type { RouteAccess } from '../auth/access.ts';
import type { BodyOptions } from '../http/body.ts';
import type { ListSent } from '../http/json.ts';
import type { DocumentedHeaders } from '../http/openapi.ts';

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

/**
 * Route as data. This description determines how the route is mounted, guarded, documented and checked for conflicts.
 */
export interface Route<S extends FastifySchema = FastifySchema>
  extends RouteAccess,
    Pick<
      TypedRouteOptions<S>,
      'handler' | 'errorHandler' | 'preParsing' | 'preValidation' | 'schemaErrorFormatter' | 'validatorCompiler'
    >,
    BodyOptions {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /**
   * True if the setting `access` has no effect on the route, as for health checks, the login and users' own sessions.
   */
  staysOpen?: boolean;
  /** True if the route changes rights. The caller's account is then read again immediately before. */
  changesAccess?: boolean;
  /** True for a health check. It must work even during overload. */
  isVital?: boolean;
  /** True if the setting `access` can open the route to everyone. */
  canBeOpen?: boolean;
  /** One-line summary of the operation in the OpenAPI document. */
  summary: string;
  schema: S;
  /** Headers in the OpenAPI document: optional request headers, and headers of successful responses. */
  headers?: DocumentedHeaders;
  /** True if the path is also served with a trailing slash. */
  looseSlash?: boolean;
  /** Name of a profile whose route takes precedence if both routes have the same method and path on the same mount. */
  yieldsTo?: string;
}

/** Matches an `async` handler only if the handler sends no list. */
type SendsOnce<H> = H extends (...rest: never[]) => Promise<infer R>
  ? Extract<R, ListSent> extends never
    ? unknown
    : never
  : unknown;

/** Defines a route. Its handler is typed by its schemas. */
export const defineRoute = <const S extends FastifySchema, H extends Route<S>['handler']>(
  route: Route<S> & { handler: H & SendsOnce<H> },
): Route => route as unknown as Route;
