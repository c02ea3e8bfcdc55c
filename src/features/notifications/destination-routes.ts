import Type from 'typebox';
import type { Route } from '../../kit/route.ts';
import { createSettingRoutes } from '../../kit/setting-routes.ts';
import { defineList } from '../../kit/shape.ts';
import { type DestinationKeeper, destinationKind, ShownDestination, toShownDestination } from './destination-kind.ts';
import { shownProperties } from './destination-secrets.ts';
import { DestinationSettings } from './settings.ts';

const { name, url, secret, token, headers } = DestinationSettings.properties;

const DestinationBody = Type.Object(
  {
    name: Type.Optional({ ...name, description: 'Optional; must equal the name in the path.' }),
    ...shownProperties,
    url: Type.Optional({
      ...url,
      description: 'URL of the receiver: http or https; for `email` smtp or smtps. If absent, the stored URL is kept.',
    }),
    secret: Type.Optional({ ...secret, writeOnly: true }),
    token: Type.Optional({ ...token, writeOnly: true }),
    headers: Type.Optional({
      ...headers,
      writeOnly: true,
      description:
        'Additional headers. If `secret`, `token` and `headers` are all absent, the stored values are kept; `{}` removes them.',
    }),
  },
  { title: 'DestinationDefinition' },
);

const DestinationList = defineList('DestinationList', 'Destinations', ShownDestination, 'Sorted by name.');

export const createDestinationRoutes = (keeper: DestinationKeeper): Route[] => {
  const { list, read, put, remove } = createSettingRoutes(destinationKind, keeper, toShownDestination);
  return [
    list({
      operationId: 'listDestinations',
      summary: 'List destinations with their settings, without secrets',
      response: DestinationList,
    }),
    read({ operationId: 'getDestination', summary: 'Get a destination' }),
    put(
      {
        operationId: 'putDestination',
        summary: 'Create a destination, or replace its settings',
        body: DestinationBody,
      },
      ({ name: _, ...settings }) => settings,
    ),
    remove({
      operationId: 'deleteDestination',
      summary: 'Delete a destination',
    }),
  ];
};
