import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import { callerOf } from '../auth/guard.ts';
import { ErrorBody } from '../http/errors.ts';
import { sendItems, sendJson, whenReady } from '../http/json.ts';
import { ifMatchHeader, putConditionHeaders, readIfMatch, readPutCondition } from '../http/text-forms.ts';
import type { RuntimeSetting } from './offers.ts';
import { defineRoute, nullable, type Route, Time, toTimeText } from './route.ts';

type Made = Pick<RuntimeSetting, 'by' | 'at' | 'version'>;

/** A setting as routes show it; null for one of the config file. */
interface Versioned {
  version: number | null;
}

/** Who asks for a change, and the versions of which one must be there; undefined if any will do. */
interface Condition {
  by: string;
  expected: number[] | undefined;
}

type Allowed = Pick<Route, 'access' | 'right' | 'changesAccess'>;

interface Kind {
  /** Where all are listed; each has a path below it. */
  path: string;
  /** One parameter: the name, or id, in the path of each. */
  params: TObject;
  /** How one is shown. */
  shape: TSchema;
  /** What the document calls one. */
  noun: string;
  /** Callers who may list and read them, and callers who may change them. */
  reading: Allowed;
  changing: Allowed;
}

interface Described {
  operationId: string;
  summary: string;
}

/** Where a setting comes from, which the config file or somebody at run time may have defined. */
export const madeOrigin = Type.Enum(['config', 'made'], {
  type: 'string',
  description: '`config`: in the config file, where it is changed.',
  examples: ['made'],
});

/** What routes say of who has changed a setting last; null for one of the config file. */
export const madeFacts = {
  updatedBy: nullable(Type.String({ examples: ['admin'] }), 'Who has changed it last; `null` in the config file.'),
  updatedAt: nullable(Time, 'When that was.'),
  version: nullable(Type.Integer({ examples: [12] }), 'Its version, as the `ETag` has it.'),
};

/** The values of `madeFacts`; `made` is undefined for a setting of the config file. */
export const toMadeFacts = (made: Made | undefined) => ({
  updatedBy: made?.by ?? null,
  updatedAt: made ? toTimeText(made.at) : null,
  version: made?.version ?? null,
});

/** Sends a setting with its version as its ETag, if it was made at run time. */
export const sendMade = (reply: FastifyReply, shown: Versioned): void =>
  sendJson(shown.version === null ? reply : reply.header('etag', `"${shown.version}"`), shown);

/** Makes what defines the routes of one kind of setting. Functions that it is given return a setting as routes show it. */
export const createMadeRoutes = <Shown extends Versioned>({ path, params, shape, noun, reading, changing }: Kind) => {
  const [parameter = ''] = Object.keys(params.properties);
  const ownPath = `${path}/:${parameter}`;
  const withVersion = { ETag: `The ${noun}'s version, in quotes.` };
  const nameOf = (request: FastifyRequest): string => (request.params as Record<string, string>)[parameter] ?? '';
  /** Where the response has no version, the setting is gone. */
  const changeOne = (
    { method, operationId, summary, body }: Described & { method: 'PUT' | 'DELETE'; body?: TSchema },
    version: typeof withVersion | undefined,
    refusals: Record<number, TSchema>,
    change: (name: string, body: unknown, condition: Condition) => Promise<Shown>,
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
        const shown = await change(nameOf(request), request.body, { by: callerOf(request), expected });
        return version ? sendMade(reply, shown) : sendJson(reply, shown);
      },
    });
  return {
    /** `toShown` is called as the response is sent. */
    list: <Known>(
      { operationId, summary, response }: Described & { response: TSchema },
      list: () => readonly Known[] | Promise<readonly Known[]>,
      toShown: (known: Known) => Shown,
    ): Route =>
      defineRoute({
        method: 'GET',
        path,
        ...reading,
        summary,
        schema: { operationId, response: { 200: response } },
        handler: (_request, reply) => whenReady(reply, list(), (known) => sendItems(reply, known, toShown)),
      }),

    read: ({ operationId, summary }: Described, find: (name: string, request: FastifyRequest) => Shown): Route =>
      defineRoute({
        method: 'GET',
        path: ownPath,
        ...reading,
        summary,
        headers: { response: withVersion },
        schema: { operationId, params, response: { 200: shape, 404: ErrorBody } },
        handler: async (request, reply) => sendMade(reply, find(nameOf(request), request)),
      }),

    /** Makes one that has its name in the body, or gets an id. */
    create: <Body extends TSchema>(
      { operationId, summary, body, created = shape }: Described & { body: Body; created?: TSchema },
      create: (given: Static<Body>, by: string) => Promise<Shown>,
    ): Route =>
      defineRoute({
        method: 'POST',
        path,
        ...changing,
        summary,
        headers: { response: withVersion },
        schema: { operationId, body: body as TSchema, response: { 201: created, 409: ErrorBody } },
        handler: async (request, reply) => {
          const shown = await create(request.body as Static<Body>, callerOf(request));
          return sendMade(reply.code(201), shown);
        },
      }),

    /** Creates or replaces the one that the path names. */
    put: <Body extends TSchema>(
      { operationId, summary, body }: Described & { body: Body },
      isKnown: (name: string) => boolean,
      put: (name: string, given: Static<Body>, condition: Condition) => Promise<Shown>,
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
          const isNew = !isKnown(name);
          const expected = readPutCondition(request.headers, isNew);
          const shown = await put(name, request.body as Static<Body>, { by: callerOf(request), expected });
          return sendMade(reply.code(isNew ? 201 : 200), shown);
        },
      }),

    /** Replaces one that there is. */
    replace: <Body extends TSchema>(
      described: Described & { body: Body },
      replace: (name: string, given: Static<Body>, condition: Condition) => Promise<Shown>,
    ): Route =>
      changeOne({ method: 'PUT', ...described }, withVersion, { 409: ErrorBody }, (name, body, condition) =>
        replace(name, body as Static<Body>, condition),
      ),

    /** Deletes one, and shows what it was. */
    remove: (described: Described, remove: (name: string, condition: Condition) => Promise<Shown>): Route =>
      changeOne({ method: 'DELETE', ...described }, undefined, { 409: ErrorBody }, (name, _body, condition) =>
        remove(name, condition),
      ),

    /** Ends one that stays listed. */
    end: (described: Described, end: (name: string, condition: Condition) => Promise<Shown>): Route =>
      changeOne({ method: 'DELETE', ...described }, withVersion, {}, (name, _body, condition) => end(name, condition)),
  };
};
