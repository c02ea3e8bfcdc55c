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
import Type, { type TProperties, type TSchema } from 'typebox';
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
 * Route as data: this description determines how the route is mounted, guarded, documented and checked for conflicts.
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
  /** True if the route changes rights, in which case the caller's account is read again immediately before. */
  changesAccess?: boolean;
  /** True for a health check, which must work even during overload. */
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
  /** Name of the profile whose route takes precedence if both define this method and path on the same mount. */
  yieldsTo?: string;
}

/** Task id in a path, documented as a number. Any other text gets a 404. */
export const TaskId = Type.String({ description: 'Id of a task, in decimal digits.', documentedType: 'integer' });

/** Pattern of a record id: a lower-case UUID. */
export const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Creates an object schema that the OpenAPI document lists under its title. */
export const defineShape = <P extends TProperties>(title: string, properties: P) => Type.Object(properties, { title });

/** Creates the schema of a complete list. `noun` names the entries in messages; `order` describes their order. */
export const defineList = <T extends TSchema>(title: string, noun: string, entry: T, order?: string) =>
  defineShape(title, {
    count: Type.Integer({ description: `${noun} in \`data\`.`, examples: [1] }),
    data: Type.Array(entry, order === undefined ? {} : { description: order }),
  });

/** Creates the parameters of a paged list, newest first. `before` describes the parameter of that name. */
export const pagingQuery = (nouns: string, before = 'Value of `next` in a page, to get the following page.') => ({
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 50, description: `Maximum number of ${nouns} to return.` }),
  before: Type.Optional(Type.Integer({ minimum: 1, description: before })),
});

/** Schema of times in responses. */
export const Time = Type.String({ format: 'date-time', examples: ['2026-01-31T08:30:00.000Z'] });

/** Schema of stored times: Unix milliseconds, within the range of a Date. */
export const Milliseconds = Type.Number({ minimum: -8.64e15, maximum: 8.64e15 });

/** Converts Unix milliseconds to a time for responses. */
export const toTimeText = (ms: number): string => new Date(ms).toISOString();

/** Converts Unix milliseconds to a time for responses; null if missing or infinite. */
export const toTimeOrNull = (ms: number | null | undefined): string | null =>
  typeof ms === 'number' && Number.isFinite(ms) ? toTimeText(ms) : null;

/** Creates the schema of an optional text. */
export const optionalText = (description: string, example?: string) =>
  Type.Optional(Type.String({ description, ...(example !== undefined && { examples: [example] }) }));

/** Creates the schema of a value or null. */
export const nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** Creates the schema of a value or null, and completes its description. */
export const orNull = <T extends TSchema>(schema: T, description: string) =>
  nullable(schema, `${description} \`null\` where there is none.`);

/** Type that an `async` handler satisfies only if it does not send a list. */
type SendsOnce<H> = H extends (...rest: never[]) => Promise<infer R>
  ? Extract<R, ListSent> extends never
    ? unknown
    : never
  : unknown;

/** Types a route's handler by its schemas. */
export const defineRoute = <const S extends FastifySchema, H extends Route<S>['handler']>(
  route: Route<S> & { handler: H & SendsOnce<H> },
): Route => route as unknown as Route;
