import type { FastifyReply } from 'fastify';
import { callerOf } from '../../auth/guard.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { sendJson } from '../../http/json.ts';
import { ifMatchHeader, readIfMatch, requireTime } from '../../http/text-forms.ts';
import { readOwnTimeZone } from '../../time-zone.ts';
import { defineRoute, type Route } from '../route.ts';
import type { SilenceKeeper } from './keeper.ts';
import { NewSilence, Silence, SilencePage, SilenceParams, SilenceQuery } from './schema.ts';
import { type KnownSilence, type StoredSilence, stateOf, toSilence } from './silence.ts';

const withVersion = { ETag: "The silence's version, in quotes." };

interface RouteParts {
  keeper: SilenceKeeper;
  clock: () => Date;
  /** Where nothing can be stored, there is nothing to change either. */
  isChangeable: boolean;
}

export const createSilenceRoutes = (parts: RouteParts): Route[] => [
  createListRoute(parts),
  createReadRoute(parts),
  ...(parts.isChangeable ? [createAddRoute(parts), createChangeRoute(parts), createEndRoute(parts)] : []),
];

const reading = { access: 'open', scope: 'incidents:read' } as const;
const changing = { access: 'token', scope: 'incidents:write' } as const;

const createListRoute = ({ keeper, clock }: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/silences',
    ...reading,
    summary: 'List silences, newest first',
    schema: { operationId: 'listSilences', querystring: SilenceQuery, response: { 200: SilencePage } },
    handler: async ({ query: { state, limit, before } }, reply) => {
      const at = clock().getTime();
      const matches = keeper
        .list()
        .filter(({ windows }) => state === 'all' || stateOf(windows.findAt(at), at) === state)
        .toSorted((one, other) => (one.setting.name < other.setting.name ? 1 : -1));
      const rest = before === undefined ? matches : matches.filter(({ setting: { name } }) => name < before);
      const data = rest.slice(0, limit).map((silence) => toSilence(silence, at));
      const next = rest.length > limit ? data.at(-1)?.id : undefined;
      return sendJson(reply, { count: data.length, total: matches.length, data, next: next ?? null });
    },
  });

const createReadRoute = ({ keeper, clock }: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/silences/:id',
    ...reading,
    summary: 'One silence',
    headers: { response: withVersion },
    schema: { operationId: 'getSilence', params: SilenceParams, response: { 200: Silence, 404: ErrorBody } },
    handler: async ({ params: { id } }, reply) => sendSilence(reply, requireSilence(keeper, id), clock),
  });

const createAddRoute = ({ keeper, clock }: RouteParts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/silences',
    ...changing,
    summary: 'Notify nobody of some alerts, for some time or again and again',
    headers: { response: withVersion },
    schema: { operationId: 'createSilence', body: NewSilence, response: { 201: Silence, 409: ErrorBody } },
    handler: async (request, reply) => {
      const by = callerOf(request);
      const silence = await keeper.create(toStored(request.body, by, clock().getTime()), by);
      return sendSilence(reply.code(201), silence, clock);
    },
  });

const createChangeRoute = ({ keeper, clock }: RouteParts): Route =>
  defineRoute({
    method: 'PUT',
    path: '/api/silences/:id',
    ...changing,
    summary: 'Replace a silence that has not expired',
    headers: { request: ifMatchHeader, response: withVersion },
    schema: {
      operationId: 'replaceSilence',
      params: SilenceParams,
      body: NewSilence,
      response: { 200: Silence, 404: ErrorBody, 409: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const expected = readIfMatch(request.headers);
      const { setting, windows } = requireSilence(keeper, request.params.id);
      const now = clock().getTime();
      if (!windows.findAt(now)) throw new HttpError('wrong-state', 'The silence has expired: create another one');
      const { startsAt, createdBy } = setting.value;
      const value = toStored(request.body, createdBy, now, startsAt);
      return sendSilence(reply, await keeper.replace(setting.name, value, callerOf(request), expected), clock);
    },
  });

const createEndRoute = ({ keeper, clock }: RouteParts): Route =>
  defineRoute({
    method: 'DELETE',
    path: '/api/silences/:id',
    ...changing,
    summary: 'End a silence now; it stays listed for 30 days',
    headers: { request: ifMatchHeader, response: withVersion },
    schema: {
      operationId: 'endSilence',
      params: SilenceParams,
      response: { 200: Silence, 404: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const expected = readIfMatch(request.headers);
      const silence = requireSilence(keeper, request.params.id);
      const isExpired = !silence.windows.findAt(clock().getTime());
      const ended = isExpired ? silence : await keeper.expire(silence, callerOf(request), expected);
      return sendSilence(reply, ended, clock);
    },
  });

const toStored = (body: NewSilence, createdBy: string, now: number, usualStart = now): StoredSilence => {
  const { match, comment = '', schedule, minutes } = body;
  assertKnown(match);
  const startsAt = body.startsAt === undefined ? usualStart : requireTime('startsAt', body.startsAt);
  const endsAt = body.endsAt === undefined ? null : requireTime('endsAt', body.endsAt);
  if ((schedule === undefined) !== (minutes === undefined)) {
    throw new HttpError('invalid', 'schedule and minutes belong together');
  }
  if (endsAt === null && schedule === undefined) throw new HttpError('invalid', 'endsAt or a schedule is needed');
  if (endsAt !== null && endsAt <= now) throw new HttpError('invalid', 'endsAt must be in the future');
  if (endsAt !== null && endsAt <= startsAt) throw new HttpError('invalid', 'endsAt must be after startsAt');
  const { timeZone = readOwnTimeZone() } = body;
  const recurring = schedule === undefined || minutes === undefined ? undefined : { schedule, timeZone, minutes };
  return { matching: { match }, startsAt, endsAt, ...(recurring && { recurring }), comment, createdBy };
};

/** What is misspelt would make a silence that matches more than it should. */
const assertKnown = (match: NewSilence['match']): void => {
  const known = Object.keys(NewSilence.properties.match.properties);
  const unknown = Object.keys(match).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new HttpError(
    'invalid',
    `match has no member ${JSON.stringify(unknown.slice(0, 100))}: use ${known.join(', ')}`,
  );
};

const requireSilence = (keeper: SilenceKeeper, id: string): KnownSilence => {
  const silence = keeper.find(id.toLowerCase());
  if (silence) return silence;
  throw new HttpError('not-found', `Silence ${id.slice(0, 100)} not found: GET /api/silences lists all of them`);
};

const sendSilence = (reply: FastifyReply, silence: KnownSilence, clock: () => Date): void =>
  sendJson(reply.header('etag', `"${silence.setting.version}"`), toSilence(silence, clock().getTime()));
