import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';
import { needs, openFor, type RouteAccess } from '../../auth/access.ts';
import { createUnavailable, ErrorBody, HttpError, requireKnown } from '../../http/errors.ts';
import { sendJson, sendList, toJsonPieces, toRowTexts } from '../../http/json.ts';
import { requireTime } from '../../http/text-forms.ts';
import type { AvailabilitySource, CheckId, CheckKind, CheckOutage, CheckSource } from '../../kit/availability.ts';
import type { Parts } from '../../kit/feature.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { toTimeOrNull, toTimeText } from '../../kit/time.ts';
import { toCsv } from '../../lib/csv.ts';
import { findTimeZone, readOwnTimeZone } from '../../lib/time-zone.ts';
import { dayMs } from '../../lib/units.ts';
import {
  AvailabilityQuery,
  type CheckAvailability,
  CheckAvailability as CheckAvailabilityShape,
  type CheckSummary,
  CheckSummaryList,
  percentageRule,
  type ShownOutage,
  SummaryQuery,
} from './schema.ts';

/** Number of days in a range without `from`. */
const usualDays = 90;
const maxDays = 3660;

const maxOutages = 1000;
const maxSummaryOutages = 20;

interface RouteParts extends Pick<Parts, 'authorize' | 'clock'> {
  source: AvailabilitySource;
  /** Returns the checks of a kind. Undefined if no feature has such checks. */
  findChecks(kind: CheckKind): CheckSource | undefined;
}

interface Kind extends RouteAccess {
  kind: CheckKind;
  noun: string;
  path: string;
  /** Name of the path parameter. */
  parameter: string;
  operationId: string;
}

/** Kinds of checks in the order of lists. Each has the access rule for its states. */
const kinds: readonly Kind[] = [
  {
    kind: 'watch',
    noun: 'Watch',
    path: '/api/watches',
    parameter: 'watch',
    operationId: 'getWatchAvailability',
    ...needs('watches:read'),
  },
  {
    kind: 'heartbeat',
    noun: 'Heartbeat',
    path: '/api/heartbeats',
    parameter: 'name',
    operationId: 'getHeartbeatAvailability',
    ...openFor('incidents:read'),
  },
  {
    kind: 'host',
    noun: 'Host',
    path: '/api/hosts',
    parameter: 'name',
    operationId: 'getHostAvailability',
    ...needs('hosts:read'),
  },
];

const dayColumns = ['day', 'up', 'down', 'maintenance', 'unknown', 'percentage'] as const;
const outageColumns = ['startsAt', 'endsAt', 'seconds', 'count', 'cause', 'incident'] as const;
const summaryColumns = [
  'kind',
  'name',
  'state',
  'since',
  'up',
  'down',
  'maintenance',
  'unknown',
  'percentage',
  'outageCount',
] as const;

/** Response schema of a route that sends JSON or CSV. */
const toFormats = <Shape extends TSchema>(shape: Shape, columns: readonly string[]) => ({
  content: {
    'application/json': { schema: shape },
    'text/csv': { schema: Type.String({ examples: [`${columns.join(',')}\r\n`] }) },
  },
});

export const createAvailabilityRoutes = (parts: RouteParts): Route[] => [
  createListRoute(parts),
  ...kinds.map((kind) => createCheckRoute(kind, parts)),
];

const createCheckRoute = (
  { kind, noun, path, parameter, operationId, access, right }: Kind,
  parts: RouteParts,
): Route =>
  defineRoute({
    method: 'GET',
    path: `${path}/:${parameter}/availability`,
    access,
    right,
    summary: `Get the availability of a ${kind} by day, with its outages`,
    schema: {
      operationId,
      params: Type.Object({ [parameter]: Type.String({ description: `Name of a ${kind}.`, examples: ['site'] }) }),
      querystring: AvailabilityQuery,
      response: { 200: toFormats(CheckAvailabilityShape, dayColumns), 404: ErrorBody },
    },
    handler: async (request, reply) => {
      const { [parameter]: name = '' } = request.params as Record<string, string>;
      const { source, findChecks } = parts;
      const checks = findChecks(kind);
      if (checks && !checks.listDefined())
        throw createUnavailable('The checks have not been read yet; try again in a second');
      requireKnown(checks?.find(name), noun, name, path);
      const range = parseRange(request.query, parts);
      const check: CheckId = `${kind}:${name}`;
      const { from, until, timeZone } = range;
      const days = source.listDays(check, from, until, timeZone);
      const outages = source.listOutages(check, from, until);
      if (!wantsCsv(request)) {
        const data: CheckAvailability = {
          ...describeCheck(source, kind, name, range),
          ...describeRange(range),
          outageCount: countOutages(outages),
          days,
          outages: outages.slice(0, maxOutages).map(toOutage),
        };
        return sendJson(reply.header('vary', 'accept'), data);
      }
      const { list } = request.query;
      const rows =
        list === 'days'
          ? [dayColumns, ...days.map((day) => dayColumns.map((column) => day[column]))]
          : [outageColumns, ...outages.map(toOutage).map((outage) => outageColumns.map((column) => outage[column]))];
      return sendCsv(reply, `${kind}-${name}-${list}`, rows);
    },
  });

const createListRoute = (parts: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/availability',
    ...openFor('incidents:read'),
    summary: 'Get the availability of all watches, heartbeats and hosts in a range',
    schema: {
      operationId: 'listAvailability',
      querystring: SummaryQuery,
      response: { 200: toFormats(CheckSummaryList, summaryColumns) },
    },
    handler: (request, reply) => {
      const { source, findChecks, authorize } = parts;
      const range = parseRange(request.query, parts);
      const readable = kinds.filter(({ access, right }) => authorize(request, { access, right }) === undefined);
      const checks = readable.flatMap(({ kind }) =>
        (findChecks(kind)?.listDefined() ?? [])
          .map(({ name }) => ({ kind, name }))
          .sort((one, other) => (one.name < other.name ? -1 : 1)),
      );
      const toSummary = ({ kind, name }: { kind: CheckKind; name: string }): CheckSummary => {
        const outages = source.listOutages(`${kind}:${name}`, range.from, range.until);
        return {
          ...describeCheck(source, kind, name, range),
          outageCount: countOutages(outages),
          outages: outages.slice(0, maxSummaryOutages).map(toOutage),
        };
      };
      if (!wantsCsv(request)) {
        const opening = JSON.stringify({ ...describeRange(range), count: checks.length, data: [] });
        return sendList(reply.header('vary', 'accept'), {
          opening: opening.slice(0, -2),
          pieces: toJsonPieces(toRowTexts(checks, toSummary)),
          closing: ']}',
        });
      }
      const rows = checks.map(toSummary).map((summary) => summaryColumns.map((column) => summary[column]));
      sendCsv(reply, 'availability', [summaryColumns, ...rows]);
      return undefined as never;
    },
  });

interface Range {
  from: number;
  until: number;
  timeZone: string;
}

/** Reads the range in a query. Throws an HttpError for a range that is empty, in the future, or many years long. */
const parseRange = (query: Static<typeof SummaryQuery>, { source, clock }: RouteParts): Range => {
  const now = clock().getTime();
  const timeZone = query.timeZone === undefined ? readOwnTimeZone() : findTimeZone(query.timeZone);
  if (timeZone === undefined) throw new HttpError('invalid', 'timeZone must be a name such as Europe/Berlin');
  const until = query.until === undefined ? now : requireTime('until', query.until);
  const from =
    query.from === undefined ? source.findDayBefore(usualDays - 1, timeZone) : requireTime('from', query.from);
  if (from >= until) throw new HttpError('invalid', 'from must be before until');
  if (from >= now) throw new HttpError('invalid', 'from must be in the past');
  const end = Math.min(until, now);
  if (end - from > maxDays * dayMs)
    throw new HttpError('invalid', `from and until may be at most ${maxDays} days apart`);
  return { from, until: end, timeZone };
};

const describeRange = ({ from, until, timeZone }: Range) => {
  return { from: toTimeText(from), until: toTimeText(until), timeZone, rule: percentageRule };
};

const describeCheck = (source: AvailabilitySource, kind: CheckKind, name: string, { from, until }: Range) => {
  const check: CheckId = `${kind}:${name}`;
  const { state, since } = source.find(check) ?? { state: 'unknown' as const, since: null };
  return { kind, name, state, since: toTimeOrNull(since), ...source.measure(check, from, until) };
};

const countOutages = (outages: readonly CheckOutage[]): number => outages.reduce((sum, { count }) => sum + count, 0);

const toOutage = ({ startsAt, endsAt, ...outage }: CheckOutage): ShownOutage => ({
  startsAt: toTimeText(startsAt),
  endsAt: toTimeOrNull(endsAt),
  ...outage,
});

/** True if CSV is requested by `format` or, without `format`, by the `Accept` header. */
const wantsCsv = ({ query, headers }: FastifyRequest): boolean => {
  const { format } = query as { format?: string };
  if (format !== undefined) return format === 'csv';
  return /^\s*text\/csv\s*(?:[;,]|$)/i.test(headers.accept ?? '');
};

const sendCsv = (reply: FastifyReply, name: string, rows: readonly (readonly unknown[])[]): FastifyReply =>
  reply
    .header('vary', 'accept')
    .header('content-disposition', `attachment; filename="${name}.csv"`)
    .type('text/csv; charset=utf-8')
    .send(toCsv(rows));
