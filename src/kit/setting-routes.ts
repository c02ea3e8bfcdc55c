import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import { callerOf } from '../auth/guard.ts';
import { ErrorBody } from '../http/errors.ts';
import { sendItems, sendJson, whenReady } from '../http/json.ts';
import { ifMatchHeader, putConditionHeaders, readIfMatch, readPutCondition } from '../http/text-forms.ts';
import { assertNameOfPath, assertOwnMembers } from './own-members.ts';
import { defineRoute, type Route } from './route.ts';
import type { SettingKeeper } from './setting-keeper.ts';
import type { SettingKind } from './setting-kind.ts';

/** Setting in a response. */
interface Versioned {
  /** Version. Null for a setting from the config file. */
  version: number | null;
}

interface Described {
  operationId: string;
  summary: string;
}

/** Route with a body that describes a setting. */
interface WithBody<Body extends TObject> extends Described {
  body: Body;
  /** Response schema whose members are ignored in requests, so that clients can edit a response and send it back. */
  ignores?: TObject;
}

/** Author of a change, and the current versions that the change accepts. Undefined versions mean any version. */
interface Condition {
  by: string;
  expected: number[] | undefined;
}

/** Sends a setting. The ETag of a runtime setting is its version. */
export const sendSetting = (reply: FastifyReply, shown: Versioned): void =>
  sendJson(shown.version === null ? reply : reply.header('etag', `"${shown.version}"`), shown);

/**
 * Creates functions that define the routes for a kind of settings. Each takes a description and, optionally, an action
 * that replaces the keeper's action and resolves to the setting to show.
 */
export const createSettingRoutes = <
  Stored,
  Known extends { name: string },
  Configured extends { name: string },
  Given,
  Shown extends Versioned,
>(
  kind: SettingKind<Stored, Known, Configured, Given>,
  keeper: SettingKeeper<Stored, Known, Configured, Given>,
  toShown: (known: Known, request: FastifyRequest) => Shown,
) => {
  const { path, params, shape, noun, reading, changing } = kind;
  const [parameter = ''] = Object.keys(params.properties);
  const ownPath = `${path}/:${parameter}`;
  const withVersion = { ETag: `The ${kind.versionOf ?? noun.toLowerCase()}'s version, in quotes.` };
  const nameOf = (request: FastifyRequest): string => (request.params as Record<string, string>)[parameter] ?? '';
  /**
   * Defines a route that changes the setting in the path. `version` describes the `ETag` header. Undefined if
   * the change removes the setting.
   */
  const changeOne = (
    { method, operationId, summary, body }: Described & { method: 'PUT' | 'DELETE'; body?: TSchema },
    version: typeof withVersion | undefined,
    refusals: Record<number, TSchema>,
    change: (name: string, condition: Condition, request: FastifyRequest) => Promise<Shown>,
  ): Route =>
    defineRoute({
      method,
      path: ownPath,
      ...changing,
      summary,
      headers: { request: ifMatchHeader, ...(version && { response: version }) },
      schema: {
        operationId,
        params,
        ...(body && { body }),
        response: { 200: shape, 404: ErrorBody, ...refusals, 412: ErrorBody },
      },
      handler: async (request, reply) => {
        const expected = readIfMatch(request.headers);
        const shown = await change(nameOf(request), { by: callerOf(request), expected }, request);
        return version ? sendSetting(reply, shown) : sendJson(reply, shown);
      },
    });
  const removeKept = async (name: string, { by, expected }: Condition, request: FastifyRequest): Promise<Shown> => {
    const shown = toShown(keeper.requireRuntime(name), request);
    await keeper.delete(name, by, expected);
    return shown;
  };
  return {
    list: (
      { operationId, summary, response }: Described & { response: TSchema },
      list: () => readonly Known[] | Promise<readonly Known[]> = () => keeper.list(),
    ): Route =>
      defineRoute({
        method: 'GET',
        path,
        ...reading,
        summary,
        schema: { operationId, response: { 200: response } },
        handler: (request, reply) =>
          // Settings are converted while the response is being sent.
          whenReady(reply, list(), (all) => sendItems(reply, all, (known) => toShown(known, request))),
      }),

    read: (
      { operationId, summary }: Described,
      require: (name: string) => Known = (name) => keeper.require(name),
    ): Route =>
      defineRoute({
        method: 'GET',
        path: ownPath,
        ...reading,
        summary,
        headers: { response: withVersion },
        schema: { operationId, params, response: { 200: shape, 404: ErrorBody } },
        handler: async (request, reply) => sendSetting(reply, toShown(require(nameOf(request)), request)),
      }),

    /** Defines the route that creates a setting, either under the name in the body or under a new id. */
    create: <Body extends TObject>(
      { operationId, summary, body, ignores, created = shape }: WithBody<Body> & { created?: TSchema },
      create: (given: Static<Body>, by: string, request: FastifyRequest) => Promise<Shown>,
    ): Route =>
      defineRoute({
        method: 'POST',
        path,
        ...changing,
        summary,
        headers: { response: withVersion },
        schema: { operationId, body: body as TSchema, response: { 201: created, 409: ErrorBody } },
        handler: async (request, reply) => {
          const given = readBody(request, body, ignores);
          return sendSetting(reply.code(201), await create(given, callerOf(request), request));
        },
      }),

    /** Defines the route that creates or replaces the setting in the path. The body may repeat the name. */
    put: <Body extends TObject>(
      { operationId, summary, body, ignores }: WithBody<Body>,
      toGiven: (body: Static<Body>) => Given,
    ): Route =>
      defineRoute({
        method: 'PUT',
        path: ownPath,
        ...changing,
        summary,
        headers: { request: putConditionHeaders, response: withVersion },
        schema: {
          operationId,
          params,
          body: body as TSchema,
          response: { 200: shape, 201: shape, 409: ErrorBody, 412: ErrorBody },
        },
        handler: async (request, reply) => {
          const name = nameOf(request);
          const isNew = keeper.find(name) === undefined;
          const expected = readPutCondition(request.headers, isNew);
          const given = toGiven(readBody(request, body, ignores, name));
          const known = await keeper.put(name, given, callerOf(request), expected);
          return sendSetting(reply.code(isNew ? 201 : 200), toShown(known, request));
        },
      }),

    /** Defines the route that replaces an existing setting. */
    replace: <Body extends TObject>(
      { ignores, ...described }: WithBody<Body>,
      replace: (name: string, given: Static<Body>, condition: Condition) => Promise<Shown>,
    ): Route =>
      changeOne({ method: 'PUT', ...described }, withVersion, { 409: ErrorBody }, (name, condition, request) =>
        replace(name, readBody(request, described.body, ignores), condition),
      ),

    /** Defines the route that deletes a setting and returns it. */
    remove: (
      described: Described,
      remove: (name: string, condition: Condition, request: FastifyRequest) => Promise<Shown> = removeKept,
    ): Route => changeOne({ method: 'DELETE', ...described }, undefined, { 409: ErrorBody }, remove),

    /** Defines the route that ends a setting. The setting stays in the list. */
    end: (
      described: Described,
      end: (name: string, condition: Condition, request: FastifyRequest) => Promise<Shown>,
    ): Route => changeOne({ method: 'DELETE', ...described }, withVersion, {}, end),
  };
};

/** Reads the body. Throws an HttpError for unknown members, and for a name that differs from the name in the path. */
const readBody = <Body extends TObject>(
  request: FastifyRequest,
  schema: Body,
  ignores: TObject | undefined,
  path?: string,
): Static<Body> => {
  const body = request.body as Static<Body> & { name?: string };
  assertOwnMembers(body as object, schema, ignores);
  const isNamed = Object.hasOwn(schema.properties, 'name');
  if (path !== undefined && isNamed && body.name !== undefined) assertNameOfPath(body.name, path);
  return body;
};
