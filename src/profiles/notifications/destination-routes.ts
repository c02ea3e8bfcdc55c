import type { FastifyReply } from 'fastify';
import Type, { type Static } from 'typebox';
import { callerOf } from '../../auth/guard.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { sendJson } from '../../http/json.ts';
import { ifMatchHeader, putConditionHeaders, readIfMatch, readPutCondition } from '../../http/text-forms.ts';
import { madeFacts, madeOrigin, setMadeVersion, toMadeFacts } from '../made-routes.ts';
import { assertNameOfPath, assertOwnMembers } from '../own-members.ts';
import { defineList, defineRoute, defineShape, type Route } from '../route.ts';
import { type DestinationKeeper, hiddenPath, type KnownDestination, toShownUrl } from './made-destinations.ts';
import { DestinationParams } from './schema.ts';
import { DestinationSettings } from './settings.ts';

const withVersion = { ETag: "The destination's version, in quotes." };

const { name, url, secret, token, headers, ...others } = DestinationSettings.properties;

const GivenDestination = Type.Object(
  {
    name: Type.Optional({ ...name, description: 'As in the config file; if given, the name in the path.' }),
    ...others,
    url: Type.Optional({
      ...url,
      description: 'The receiver: http or https; of `email` smtp or smtps. Left out, it stays.',
    }),
    secret: Type.Optional({ ...secret, writeOnly: true }),
    token: Type.Optional({ ...token, writeOnly: true }),
    headers: Type.Optional({
      ...headers,
      writeOnly: true,
      description: 'Further headers. If `secret`, `token` and `headers` are all left out, they stay; `{}` is none.',
    }),
  },
  { title: 'DestinationDefinition' },
);

const ShownDestination = defineShape('Destination', {
  name,
  origin: madeOrigin,
  settings: Type.Object(
    { ...others, url: { ...url, description: 'Without its path, which may be secret.' } },
    { title: 'DestinationSettings', description: 'As in the config file, without secrets.' },
  ),
  hidden: Type.Array(Type.Enum(['url', 'secret', 'token', 'headers'], { type: 'string', examples: ['secret'] }), {
    description: 'What it has, but is not shown.',
  }),
  ...madeFacts,
});
type ShownDestination = Static<typeof ShownDestination>;

const DestinationList = defineList('DestinationList', 'Destinations', ShownDestination, 'By name.');

interface RouteParts {
  keeper: DestinationKeeper;
  /** Resolves when the last change has its effect. */
  settle(): Promise<void>;
}

export const createDestinationRoutes = (parts: RouteParts): Route[] => [
  createListRoute(parts),
  createReadRoute(parts),
  ...(parts.keeper.isChangeable ? [createPutRoute(parts), createRemoveRoute(parts)] : []),
];

const createListRoute = ({ keeper }: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/destinations',
    access: 'admin',
    summary: 'List destinations with their settings, without secrets',
    schema: { operationId: 'listDestinations', response: { 200: DestinationList } },
    handler: async (_request, reply) => {
      const data = keeper.list().map(toShown);
      return sendJson(reply, { count: data.length, data });
    },
  });

const createReadRoute = ({ keeper }: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/destinations/:destination',
    access: 'admin',
    summary: 'One destination',
    headers: { response: withVersion },
    schema: {
      operationId: 'getDestination',
      params: DestinationParams,
      response: { 200: ShownDestination, 404: ErrorBody },
    },
    handler: async ({ params: { destination } }, reply) => send(reply, requireDestination(keeper, destination)),
  });

const createPutRoute = ({ keeper, settle }: RouteParts): Route =>
  defineRoute({
    method: 'PUT',
    path: '/api/destinations/:destination',
    access: 'admin',
    summary: 'Create a destination, or replace its settings',
    headers: { request: putConditionHeaders, response: withVersion },
    schema: {
      operationId: 'putDestination',
      params: DestinationParams,
      body: GivenDestination,
      response: { 200: ShownDestination, 201: ShownDestination, 409: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const { destination } = request.params;
      const isNew = keeper.find(destination) === undefined;
      const expected = readPutCondition(request.headers, isNew);
      assertOwnMembers(request.body, GivenDestination);
      const { name: given = destination, ...settings } = request.body;
      assertNameOfPath(given, destination);
      const known = await keeper.put(destination, settings, callerOf(request), expected);
      await settle();
      return send(reply.code(isNew ? 201 : 200), known);
    },
  });

const createRemoveRoute = ({ keeper, settle }: RouteParts): Route =>
  defineRoute({
    method: 'DELETE',
    path: '/api/destinations/:destination',
    access: 'admin',
    summary: 'Delete a destination, which gets nothing from then on',
    headers: { request: ifMatchHeader },
    schema: {
      operationId: 'deleteDestination',
      params: DestinationParams,
      response: { 200: ShownDestination, 404: ErrorBody, 409: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const expected = readIfMatch(request.headers);
      const known = requireDestination(keeper, request.params.destination);
      await keeper.delete(known.settings.name, callerOf(request), expected);
      await settle();
      return sendJson(reply, toShown(known));
    },
  });

const requireDestination = (keeper: DestinationKeeper, wanted: string): KnownDestination => {
  const known = keeper.find(wanted);
  if (known) return known;
  throw new HttpError(
    'not-found',
    `There is no destination ${JSON.stringify(wanted.slice(0, 100))}: GET /api/destinations lists all`,
  );
};

const send = (reply: FastifyReply, known: KnownDestination): void =>
  sendJson(setMadeVersion(reply, known.made), toShown(known));

/** Without secrets; the path of a URL is often one. */
const toShown = ({ settings, made }: KnownDestination): ShownDestination => {
  const { name: shownName, url: whole, secret: one, token: other, headers: more, ...rest } = settings;
  const shownUrl = toShownUrl(whole);
  const hidden = [
    ...(shownUrl.endsWith(hiddenPath) ? (['url'] as const) : []),
    ...(one === undefined ? [] : (['secret'] as const)),
    ...(other === undefined ? [] : (['token'] as const)),
    ...(more === undefined || Object.keys(more).length === 0 ? [] : (['headers'] as const)),
  ];
  return {
    name: shownName,
    origin: made ? 'made' : 'config',
    settings: { ...rest, url: shownUrl },
    hidden,
    ...toMadeFacts(made),
  };
};
