import { HttpError, requireKnown } from '../../http/errors.ts';
import { sendList, toJsonPieces, toRowTexts } from '../../http/json.ts';
import { requireTime } from '../../http/text-forms.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { createSettingRoutes } from '../../kit/setting-routes.ts';
import { readOwnTimeZone } from '../../lib/time-zone.ts';
import type { SilenceKeeper } from './keeper.ts';
import { silenceKind } from './kind.ts';
import type { Matching } from './matchers.ts';
import { NewSilence, Silence, SilencePage, SilenceQuery } from './schema.ts';
import { type KnownSilence, stateOf, toSilence } from './silence.ts';
import type { StoredSilence } from './stored.ts';

interface RouteParts {
  keeper: SilenceKeeper;
  clock: () => Date;
}

export const createSilenceRoutes = (parts: RouteParts): Route[] => {
  const { keeper, clock } = parts;
  const toShown = (silence: KnownSilence): Silence => toSilence(silence, clock().getTime());
  const { read, create, replace, end } = createSettingRoutes(silenceKind, keeper.settings, toShown);
  const require = (id: string): KnownSilence => requireKnown(keeper.find(id), 'Silence', id, silenceKind.path);
  return [
    createListRoute(parts),
    read({ operationId: 'getSilence', summary: 'Get a silence' }, require),
    create(
      {
        operationId: 'createSilence',
        summary: 'Create a silence, once or with a schedule',
        body: NewSilence,
        // All other unknown members are rejected, because a misspelt member would make the silence match too much.
        ignores: Silence,
      },
      async (given, by) => toShown(await keeper.create(toStored(given, by, clock().getTime()), by)),
    ),
    replace(
      {
        operationId: 'replaceSilence',
        summary: 'Replace a silence that has not expired',
        body: NewSilence,
        ignores: Silence,
      },
      async (id, given, { by, expected }) => {
        const { name, setting, windows } = require(id);
        const now = clock().getTime();
        if (!windows.findAt(now)) throw new HttpError('wrong-state', 'The silence has expired: create a new silence');
        const { startsAt, createdBy } = setting.value;
        const value = toStored(given, createdBy, now, startsAt);
        return toShown(await keeper.replace(name, value, by, expected));
      },
    ),
    end(
      { operationId: 'endSilence', summary: 'End a silence now; the silence stays listed for 30 days' },
      async (id, { by, expected }) => {
        const silence = require(id);
        const isExpired = !silence.windows.findAt(clock().getTime());
        return toShown(isExpired ? silence : await keeper.expire(silence, by, expected));
      },
    ),
  ];
};

const createListRoute = ({ keeper, clock }: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/silences',
    ...silenceKind.reading,
    summary: 'List silences, newest first',
    schema: { operationId: 'listSilences', querystring: SilenceQuery, response: { 200: SilencePage } },
    handler: ({ query: { state, limit, before } }, reply) => {
      const at = clock().getTime();
      const matches = keeper
        .list()
        .filter(({ windows }) => state === 'all' || stateOf(windows.findAt(at), at) === state)
        .toSorted((one, other) => (one.name < other.name ? 1 : -1));
      const rest = before === undefined ? matches : matches.filter(({ name }) => name < before);
      const page = rest.slice(0, limit);
      const next = rest.length > limit ? page.at(-1)?.name : undefined;
      return sendList(reply, {
        opening: `{"count":${page.length},"total":${matches.length},"data":[`,
        pieces: toJsonPieces(toRowTexts(page, (silence) => toSilence(silence, at))),
        closing: `],"next":${JSON.stringify(next ?? null)}}`,
      });
    },
  });

const toStored = (body: NewSilence, createdBy: string, now: number, defaultStart = now): StoredSilence => {
  const { comment = '', schedule, minutes, maintenance = false } = body;
  const matching = toMatching(body);
  const startsAt = body.startsAt === undefined ? defaultStart : requireTime('startsAt', body.startsAt);
  const endsAt = body.endsAt === undefined ? null : requireTime('endsAt', body.endsAt);
  if ((schedule === undefined) !== (minutes === undefined)) {
    throw new HttpError('invalid', 'schedule and minutes must be set together');
  }
  if (endsAt === null && schedule === undefined)
    throw new HttpError('invalid', 'endsAt is required unless schedule is set');
  if (endsAt !== null && endsAt <= now) throw new HttpError('invalid', 'endsAt must be in the future');
  if (endsAt !== null && endsAt <= startsAt) throw new HttpError('invalid', 'endsAt must be after startsAt');
  const { timeZone = readOwnTimeZone() } = body;
  const recurring = schedule === undefined || minutes === undefined ? undefined : { schedule, timeZone, minutes };
  return {
    matching,
    startsAt,
    endsAt,
    ...(recurring && { recurring }),
    ...(maintenance && { maintenance }),
    comment,
    createdBy,
  };
};

const toMatching = ({ match, matchers }: NewSilence): Matching => {
  if (match && !matchers) return { match };
  if (matchers && !match) return { matchers };
  throw new HttpError('invalid', 'use either match or matchers');
};
