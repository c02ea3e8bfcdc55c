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

/** A route as data, from which it is mounted, guarded, documented and checked for conflicts. */
export interface Route<S extends FastifySchema = FastifySchema>
  extends RouteAccess,
    Pick<
      TypedRouteOptions<S>,
      'handler' | 'errorHandler' | 'preParsing' | 'preValidation' | 'schemaErrorFormatter' | 'validatorCompiler'
    >,
    BodyOptions {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  /** The setting `access` does not change who may use it: health checks, the login, and what users do with their own sessions. */
  staysOpen?: boolean;
  /** It changes what people and programs may do, so the caller's account is read again right before. */
  changesAccess?: boolean;
  /** A health check, which works during overload too. */
  isVital?: boolean;
  /** The setting `access` may open it to everyone. */
  canBeOpen?: boolean;
  /** One line; becomes the operation's summary in the OpenAPI document. */
  summary: string;
  schema: S;
  /** Headers that the OpenAPI document lists, with their meanings: optional ones of requests, and those of successes. */
  headers?: DocumentedHeaders;
  /** The path is also served with a trailing slash. */
  looseSlash?: boolean;
  /** Name of the profile whose route is used if both define this method and path on one mount. */
  yieldsTo?: string;
}

/** The id of a task in a path: a number for clients; other texts are accepted too, and get 404. */
export const TaskId = Type.String({ description: 'Id of a task, in decimal digits.', documentedType: 'integer' });

/** The ids of records: UUIDs in lower case. */
export const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An object schema that the OpenAPI document lists by this name. */
export const defineShape = <P extends TProperties>(title: string, properties: P) => Type.Object(properties, { title });

/** A whole list; `noun` is what messages call its entries, and `order` says how they are sorted. */
export const defineList = <T extends TSchema>(title: string, noun: string, entry: T, order?: string) =>
  defineShape(title, {
    count: Type.Integer({ description: `${noun} in \`data\`.`, examples: [1] }),
    data: Type.Array(entry, order === undefined ? {} : { description: order }),
  });

/** The parameters of a list by pages, the newest first; `before` says what that is about. */
export const pagingQuery = (nouns: string, before = 'The `next` of a page: what comes after it.') => ({
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 50, description: `Maximum number of ${nouns} to return.` }),
  before: Type.Optional(Type.Integer({ minimum: 1, description: before })),
});

/** A time in a response. */
export const Time = Type.String({ format: 'date-time', examples: ['2026-01-31T08:30:00.000Z'] });

/** Unix milliseconds as responses have them. */
export const toTimeText = (ms: number): string => new Date(ms).toISOString();

/** The same; null where there is none, or it is infinite. */
export const toTimeOrNull = (ms: number | null | undefined): string | null =>
  typeof ms === 'number' && Number.isFinite(ms) ? toTimeText(ms) : null;

/** A text that may be left out. */
export const optionalText = (description: string, example?: string) =>
  Type.Optional(Type.String({ description, ...(example !== undefined && { examples: [example] }) }));

/** What may be null. */
export const nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** What may be null because there is none. */
export const orNull = <T extends TSchema>(schema: T, description: string) =>
  nullable(schema, `${description} \`null\` where there is none.`);

/** Nothing satisfies it where an `async` handler sends a list. */
type SendsOnce<H> = H extends (...rest: never[]) => Promise<infer R>
  ? Extract<R, ListSent> extends never
    ? unknown
    : never
  : unknown;

/** Types a route's handler from its schemas. */
export const defineRoute = <const S extends FastifySchema, H extends Route<S>['handler']>(
  route: Route<S> & { handler: H & SendsOnce<H> },
): Route => route as unknown as Route;
