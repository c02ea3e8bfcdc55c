import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../../auth/guard.ts';
import { ErrorBody, HttpError, toHttpError } from '../../http/errors.ts';
import { sendJson, sendList, toJsonPieces, toRowTexts, whenReady } from '../../http/json.ts';
import { requireTime } from '../../http/text-forms.ts';
import { parseMatcher } from '../../kit/matcher-text.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import type { SharedSilence, SilenceStore } from '../../kit/silence-source.ts';
import { toTimeText } from '../../kit/time.ts';
import { Slice } from '../../lib/slice.ts';
import { type AlertmanagerParts, alertmanagerChanging, alertmanagerReading } from './parts.ts';
import {
  AlertmanagerDone,
  AlertmanagerNewSilence,
  AlertmanagerRefusal,
  AlertmanagerSilence,
  AlertmanagerSilenceId,
  AlertmanagerSilenceParams,
  AlertmanagerSilenceQuery,
  AlertmanagerSilences,
} from './schema.ts';

/** Creates the routes that read and change silences. */
export const createAlertmanagerSilenceRoutes = (parts: AlertmanagerParts): Route[] => [
  createSilencesRoute(parts),
  createSilenceRoute(parts),
  createPostRoute(parts),
  createExpireRoute(parts),
];

const createSilencesRoute = ({ silences }: AlertmanagerParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/v2/silences',
    ...alertmanagerReading,
    summary: 'List silences, active silences first',
    schema: {
      operationId: 'listAlertmanagerSilences',
      querystring: AlertmanagerSilenceQuery,
      response: { 200: AlertmanagerSilences },
    },
    handler: ({ query: { filter = [] } }, reply) =>
      whenReady(reply, findSilences(silences, filter), (found) =>
        sendList(reply, { opening: '[', pieces: toJsonPieces(toRowTexts(found, toAlertmanagerSilence)), closing: ']' }),
      ),
  });

const findSilences = async (silences: SilenceStore, filter: readonly string[]): Promise<SharedSilence[]> => {
  const passes = silences.createFilter(filter.map(parseMatcher));
  const slice = new Slice();
  const found: SharedSilence[] = [];
  for (const silence of silences.list()) {
    if (slice.isOver) await slice.giveWay();
    if (passes(new Map(silence.matchers.map(({ name, value }) => [name, value])))) found.push(silence);
  }
  return found.sort(compareSilences);
};

const ranks = { active: 0, pending: 1, expired: 2 };

/**
 * Compares silences for sorting: active silences by end, pending silences by start, then expired silences by end,
 * latest first.
 */
const compareSilences = (one: SharedSilence, other: SharedSilence): number => {
  const rank = ranks[one.state] - ranks[other.state];
  if (rank !== 0) return rank;
  if (one.state === 'pending') return one.startsAt - other.startsAt;
  return one.state === 'active' ? one.endsAt - other.endsAt : other.endsAt - one.endsAt;
};

const toAlertmanagerSilence = ({
  id,
  state,
  matchers,
  startsAt,
  endsAt,
  updatedAt,
  createdBy,
  comment,
}: SharedSilence) => ({
  id,
  status: { state },
  matchers: [...matchers],
  startsAt: toTimeText(startsAt),
  endsAt: toTimeText(endsAt),
  updatedAt: toTimeText(updatedAt),
  createdBy,
  comment,
});

const createSilenceRoute = ({ silences }: AlertmanagerParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/v2/silence/:id',
    ...alertmanagerReading,
    summary: 'Get a silence',
    schema: {
      operationId: 'getAlertmanagerSilence',
      params: AlertmanagerSilenceParams,
      response: { 200: AlertmanagerSilence, 404: ErrorBody },
    },
    handler: ({ params: { id } }, reply) => {
      const silence = silences.find(id);
      if (!silence) throw toAbsence(id);
      return sendJson(reply, toAlertmanagerSilence(silence));
    },
  });

const createPostRoute = ({ silences, clock }: AlertmanagerParts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/v2/silences',
    ...alertmanagerChanging,
    summary: 'Create or replace a silence',
    schema: {
      operationId: 'postAlertmanagerSilence',
      body: AlertmanagerNewSilence,
      response: { 200: AlertmanagerSilenceId, 400: AlertmanagerRefusal, 404: AlertmanagerRefusal },
    },
    errorHandler: sendRefusal,
    handler: async (request, reply) => {
      const { id, matchers, startsAt, endsAt, createdBy, comment } = request.body;
      const given = {
        matchers: matchers.map(({ name, value, isRegex, isEqual = true }) => ({ name, value, isRegex, isEqual })),
        startsAt: requireTimeIfSet('startsAt', startsAt) ?? clock().getTime(),
        endsAt: requireTimeIfSet('endsAt', endsAt) ?? 0,
        createdBy,
        comment,
      };
      const by = callerOf(request);
      const silenceID = id ? await silences.replace(id, given, by) : await silences.create(given, by);
      if (silenceID === undefined) throw toAbsence(id ?? '');
      return sendJson(reply, { silenceID });
    },
  });

/**
 * Sends a refusal as 400 or 404 with a bare JSON string, the only form that clients read. `amtool silence import` needs
 * 404.
 */
const sendRefusal = (error: unknown, _request: FastifyRequest, reply: FastifyReply): void => {
  const known = toHttpError(error);
  const kind = { 400: 'invalid', 404: 'not-found', 409: 'invalid' }[known?.status ?? 0] as
    | 'invalid'
    | 'not-found'
    | undefined;
  reply.send(known && kind ? new HttpError(kind, known.message, { isBare: true }) : error);
};

/** Returns undefined for Go's zero time. @throws HttpError if the time is invalid */
const requireTimeIfSet = (name: string, text: string): number | undefined =>
  text.startsWith('0001-01-01T00:00:00') ? undefined : requireTime(name, text);

const createExpireRoute = ({ silences }: AlertmanagerParts): Route =>
  defineRoute({
    method: 'DELETE',
    path: '/api/v2/silence/:id',
    ...alertmanagerChanging,
    summary: 'End a silence now',
    schema: {
      operationId: 'expireAlertmanagerSilence',
      params: AlertmanagerSilenceParams,
      response: { 200: AlertmanagerDone, 404: ErrorBody },
    },
    handler: async (request, reply) => {
      const { id } = request.params;
      if (!(await silences.end(id, callerOf(request)))) throw toAbsence(id);
      return sendJson(reply, {});
    },
  });

const toAbsence = (id: string): HttpError => new HttpError('not-found', `Silence ${id.slice(0, 100)} not found`);
