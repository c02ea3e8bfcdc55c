import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { needs, openFor } from '../../../auth/access.ts';
import { principalOf } from '../../../auth/guard.ts';
import { ErrorBody, HttpError } from '../../../http/errors.ts';
import { sendJson } from '../../../http/json.ts';
import { toOwnTags } from '../../../http/text-forms.ts';
import type { Offers } from '../../../kit/offers.ts';
import { joinTarget, listNamesOf } from '../../../kit/people.ts';
import { defineRoute, type Route } from '../../../kit/route.ts';
import { defineList } from '../../../kit/shape.ts';
import { requireOwnPerson } from '../people/own-person.ts';
import { CalendarAddress, type CalendarAddresses, NewCalendarAddress, toShownAddress } from './calendar-addresses.ts';
import { writeFeed } from './calendar-feed.ts';
import type { Overrides } from './overrides.ts';
import type { RotationKeeper } from './rotation-kind.ts';
import type { Rotations } from './rotations.ts';

interface CalendarParts {
  addresses: CalendarAddresses;
  keeper: RotationKeeper;
  rotations: Rotations;
  overrides: Overrides;
  accounts: Offers['accounts'];
  clock: () => Date;
}

const AddressList = defineList('CalendarAddressList', 'Addresses', CalendarAddress, 'Oldest first, without secrets.');

const address = Type.String({ description: 'Id of an address.' });

/**
 * Type of owner of calendar addresses: a path in the API, and a function that converts its parameter to the owner's
 * name.
 */
interface Owner {
  path: string;
  params: Record<string, ReturnType<typeof Type.String>>;
  /** Suffix of operation ids. */
  id: string;
  noun: string;
  /** Returns `person:NAME` or `rotation:NAME`. Throws an HttpError if the caller may not use the addresses. */
  toOwner(request: FastifyRequest): string;
}

/** Creates the routes for secret addresses and for the calendars at these addresses. */
export const createCalendarRoutes = (parts: CalendarParts): Route[] => {
  const people: Owner = {
    path: '/api/people/:person/calendar',
    params: { person: Type.String({ description: 'A user; `me` for yourself.' }) },
    id: 'PersonCalendar',
    noun: 'a person',
    toOwner: (request) => joinTarget('person', requireOwnName(request, parts.accounts)),
  };
  const rotations: Owner = {
    path: '/api/rotations/:rotation/calendar-addresses',
    params: { rotation: Type.String({ description: 'Name of a rotation.' }) },
    id: 'RotationCalendar',
    noun: 'a rotation',
    toOwner: ({ params }) =>
      joinTarget('rotation', parts.keeper.require((params as { rotation: string }).rotation).name),
  };
  return [...createAddressRoutes(parts, people), ...createAddressRoutes(parts, rotations), createFeedRoute(parts)];
};

/** Returns the user in the path. Throws an HttpError if the caller is neither that user nor an Admin. */
export const requireOwnName = (request: FastifyRequest, accounts: Offers['accounts']): string =>
  requireOwnPerson(
    request,
    'calendars',
    (name) => name === principalOf(request).name || accounts?.findUser(name) !== undefined,
  );

const createAddressRoutes = ({ addresses }: CalendarParts, { path, params, id, noun, toOwner }: Owner): Route[] => [
  defineRoute({
    method: 'GET',
    path,
    ...needs('account:own'),
    summary: `List the secret calendar addresses of ${noun}, without the secrets`,
    schema: {
      operationId: `list${id}Addresses`,
      params: Type.Object(params),
      response: { 200: AddressList, 403: ErrorBody, 404: ErrorBody },
    },
    handler: async (request, reply) => {
      const data = addresses.list(toOwner(request)).map(toShownAddress);
      return sendJson(reply, { count: data.length, data });
    },
  }),
  defineRoute({
    method: 'POST',
    path,
    ...needs('account:own'),
    summary: `Create a secret calendar address of ${noun}, for calendar programs`,
    schema: {
      operationId: `create${id}Address`,
      params: Type.Object(params),
      response: { 201: NewCalendarAddress, 403: ErrorBody, 404: ErrorBody },
    },
    handler: async (request, reply) =>
      sendJson(reply.code(201), await addresses.create(toOwner(request), principalOf(request).name)),
  }),
  defineRoute({
    method: 'DELETE',
    path: `${path}/:address`,
    ...needs('account:own'),
    summary: `Revoke a calendar address of ${noun}`,
    schema: {
      operationId: `delete${id}Address`,
      params: Type.Object({ ...params, address }),
      response: { 200: CalendarAddress, 403: ErrorBody, 404: ErrorBody },
    },
    handler: async (request, reply) => {
      const owner = toOwner(request);
      const { name, role } = principalOf(request);
      const { address: wanted } = request.params as { address: string };
      const known = addresses.list(owner).find((each) => each.name === wanted.toLowerCase());
      if (!known) throw new HttpError('not-found', 'There is no calendar address with this id');
      if (role !== 'Admin' && known.value.createdBy !== name && owner !== joinTarget('person', name)) {
        throw new HttpError('forbidden', 'Only Admins can revoke the calendar addresses of other people');
      }
      await addresses.revoke(known, name);
      return sendJson(reply, toShownAddress(known));
    },
  }),
];

const createFeedRoute = ({ addresses, keeper, rotations, overrides, accounts, clock }: CalendarParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/oncall/:file',
    ...openFor('incidents:read'),
    staysOpen: true,
    summary: 'Get shifts as iCalendar by a secret address',
    headers: { response: { ETag: 'Hash of the calendar.' } },
    schema: {
      operationId: 'readCalendar',
      params: Type.Object({ file: Type.String({ description: 'Secret of an address, followed by `.ics`.' }) }),
      response: {
        200: { content: { 'text/calendar': { schema: Type.String({ examples: ['BEGIN:VCALENDAR'] }) } } },
        304: Type.Null({ description: 'The calendar has not changed.' }),
        404: ErrorBody,
      },
    },
    handler: async (request, reply) => {
      const [, secret] = /^([\w-]{43})\.ics$/.exec(request.params.file) ?? [];
      const owner = secret === undefined ? undefined : addresses.findBySecret(secret)?.value.of;
      const [person] = listNamesOf(owner === undefined ? [] : [owner], 'person');
      const isKnown = person === undefined || accounts?.findUser(person) !== undefined;
      const known = keeper
        .list()
        .filter(({ name, rotation }) =>
          person === undefined ? owner === joinTarget('rotation', name) : rotation.kind === 'person',
        );
      if (owner === undefined || !isKnown || (person === undefined && known.length === 0)) {
        throw new HttpError('not-found', 'There is no calendar at this address');
      }
      const changes = [
        ...known.map(({ setting }) => setting?.at ?? 0),
        ...overrides.settings.list().map(({ at }) => at),
      ];
      const { text, tag } = await writeFeed(
        `On call: ${owner.slice(owner.indexOf(':') + 1)}`,
        known.flatMap(({ name }) => rotations.find(name) ?? []),
        person,
        { now: clock().getTime(), changedAt: Math.max(0, ...changes) },
      );
      reply.header('etag', tag).header('cache-control', 'private, no-cache');
      if (toOwnTags(request.headers['if-none-match'] ?? '').includes(tag)) return reply.code(304).send(null);
      return reply.type('text/calendar; charset=utf-8').send(text);
    },
  });
