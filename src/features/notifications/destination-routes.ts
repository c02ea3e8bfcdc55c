import Type, { type Static } from 'typebox';
import { needs } from '../../auth/access.ts';
import { createMadeRoutes, madeFacts, madeOrigin, toMadeFacts } from '../../kit/made-routes.ts';
import { assertNameOfPath, assertOwnMembers } from '../../kit/own-members.ts';
import { defineList, defineShape, type Route } from '../../kit/route.ts';
import { type DestinationKeeper, hiddenPath, type KnownDestination, toShownUrl } from './made-destinations.ts';
import { DestinationParams } from './schema.ts';
import { DestinationSettings } from './settings.ts';

const { name, url, secret, token, headers, ...others } = DestinationSettings.properties;

const DestinationBody = Type.Object(
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

const { list, read, put, remove } = createMadeRoutes<ShownDestination>({
  path: '/api/destinations',
  params: DestinationParams,
  shape: ShownDestination,
  noun: 'destination',
  reading: needs('notifications:read'),
  changing: needs('settings:write'),
});

interface RouteParts {
  keeper: DestinationKeeper;
  /** Resolves when the last change has its effect. */
  settle(): Promise<void>;
}

export const createDestinationRoutes = (parts: RouteParts): Route[] => [
  list(
    {
      operationId: 'listDestinations',
      summary: 'List destinations with their settings, without secrets',
      response: DestinationList,
    },
    () => parts.keeper.list(),
    toShown,
  ),
  read({ operationId: 'getDestination', summary: 'One destination' }, (wanted) =>
    toShown(parts.keeper.require(wanted)),
  ),
  ...(parts.keeper.isChangeable ? createChangingRoutes(parts) : []),
];

const createChangingRoutes = ({ keeper, settle }: RouteParts): Route[] => [
  put(
    {
      operationId: 'putDestination',
      summary: 'Create a destination, or replace its settings',
      body: DestinationBody,
    },
    (wanted) => keeper.find(wanted) !== undefined,
    async (path, body, { by, expected }) => {
      assertOwnMembers(body, DestinationBody);
      const { name: given = path, ...settings } = body;
      assertNameOfPath(given, path);
      const known = await keeper.put(path, settings, by, expected);
      await settle();
      return toShown(known);
    },
  ),
  remove(
    { operationId: 'deleteDestination', summary: 'Delete a destination, which gets nothing from then on' },
    async (wanted, { by, expected }) => {
      const known = keeper.require(wanted);
      await keeper.delete(wanted, by, expected);
      await settle();
      return toShown(known);
    },
  ),
];

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
