import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { needs, openFor } from '../../auth/access.ts';
import { callerOf } from '../../auth/guard.ts';
import { ErrorBody, HttpError, toHttpError } from '../../http/errors.ts';
import { joinRows, sendJson, sendList, toJsonPieces, toJsonRows, toRowTexts, whenReady } from '../../http/json.ts';
import { createClientSignal, createQueue } from '../../http/overload.ts';
import { largeLength } from '../../http/response.ts';
import { requireTime } from '../../http/text-forms.ts';
import type { SharedIncident } from '../../kit/incident.ts';
import type { IncidentSource } from '../../kit/incident-source.ts';
import { defineRoute, type Route, toTimeText } from '../../kit/route.ts';
import { deriveLabels, type SharedSilence, type SilenceMatcher, type SilenceStore } from '../../kit/silence-source.ts';
import { Slice } from '../../lib/slice.ts';
import {
  type AlertmanagerAlert,
  AlertmanagerAlertGroups,
  AlertmanagerAlertQuery,
  AlertmanagerAlerts,
  AlertmanagerDone,
  AlertmanagerNewSilence,
  AlertmanagerReceivers,
  AlertmanagerRefusal,
  AlertmanagerSilence,
  AlertmanagerSilenceId,
  AlertmanagerSilenceParams,
  AlertmanagerSilenceQuery,
  AlertmanagerSilences,
  AlertmanagerStatus,
} from './schema.ts';

/** Milliseconds until clients consider an alert resolved. */
const firingMs = 5 * 60 * 1000;

/** The only receiver that clients see; destinations are not shown. */
const receiver = { name: 'signalbox' };

interface RouteParts {
  incidents: IncidentSource;
  silences: SilenceStore;
  clock: () => Date;
}

export const createAlertmanagerRoutes = (parts: RouteParts): Route[] => [
  createAlertsRoute(parts),
  createGroupsRoute(parts),
  createSilencesRoute(parts),
  createSilenceRoute(parts),
  createPostRoute(parts),
  createExpireRoute(parts),
];

/** Creates the routes that need neither incidents nor silences. */
export const createServerRoutes = (version: string, startedAt: Date): Route[] => [
  createReceiversRoute(),
  createStatusRoute(version, startedAt),
];

const reading = openFor('incidents:read');
const changing = needs('incidents:write');

const createAlertsRoute = (parts: RouteParts): Route => {
  const queue = createListQueue();
  return defineRoute({
    method: 'GET',
    path: '/api/v2/alerts',
    ...reading,
    summary: 'List incidents that are not resolved, as alerts',
    schema: {
      operationId: 'listAlertmanagerAlerts',
      querystring: AlertmanagerAlertQuery,
      response: { 200: AlertmanagerAlerts, 400: ErrorBody },
    },
    handler: ({ query }, reply) => {
      const finding = queue.run(() => findAlerts(parts, query), createClientSignal(reply));
      return whenReady(reply, finding, (found) =>
        sendList(reply, { opening: '[', pieces: toJsonPieces(toRowTexts(found, toAlertmanagerAlert)), closing: ']' }),
      );
    },
  });
};

/** Limits concurrent lists, because each list may compare thousands of alerts. */
const createListQueue = () =>
  createQueue({ running: 2, waiting: 32, refusal: 'Too many lists of alerts are being read' });

const createGroupsRoute = (parts: RouteParts): Route => {
  const queue = createListQueue();
  return defineRoute({
    method: 'GET',
    path: '/api/v2/alerts/groups',
    ...reading,
    summary: 'List incidents that are not resolved, as alerts grouped by the label alertname',
    schema: {
      operationId: 'listAlertmanagerAlertGroups',
      querystring: AlertmanagerAlertQuery,
      response: { 200: AlertmanagerAlertGroups, 400: ErrorBody },
    },
    handler: ({ query }, reply) => {
      const finding = queue.run(() => findAlerts(parts, query), createClientSignal(reply));
      return whenReady(reply, finding, (found) =>
        sendList(reply, { opening: '[', pieces: toGroupPieces(groupAlerts(found)), closing: ']' }),
      );
    },
  });
};

const groupAlerts = (found: readonly FoundAlert[]): Map<string, FoundAlert[]> => {
  const groups = new Map<string, FoundAlert[]>();
  for (const alert of found) {
    const name = toShownLabels(alert.incident)['alertname'] ?? '';
    if (!groups.get(name)?.push(alert)) groups.set(name, [alert]);
  }
  return groups;
};

/** An incident that passes the query, and its active silences. */
interface FoundAlert {
  incident: SharedIncident;
  silencedBy: string[];
  now: number;
}

/** Rejects with an HttpError if the query cannot be used. */
const findAlerts = async (
  { incidents, silences, clock }: RouteParts,
  { active, silenced, filter = [], receiver: wanted }: AlertmanagerAlertQuery,
): Promise<FoundAlert[]> => {
  const passes = silences.createFilter(filter.map(parseMatcher));
  const isReceiver = silences.createFilter(
    wanted === undefined ? [] : [{ name: 'receiver', value: wanted, isRegex: true, isEqual: true }],
  )(new Map([['receiver', receiver.name]]));
  const found: FoundAlert[] = [];
  if (!isReceiver) return found;
  const slice = new Slice();
  for (const incident of await incidents.listUnsettled()) {
    if (slice.isOver) await slice.giveWay();
    const subject = { ...incident, text: incident.title };
    if (incident.state === 'resolved' || !passes(silences.labelsOf(subject))) continue;
    const now = clock().getTime();
    const silencedBy = silences.silencesOf(subject, now);
    const isWanted = silencedBy.length > 0 ? silenced : active;
    if (isWanted === 'true') found.push({ incident, silencedBy, now });
  }
  return found;
};

/** Yields the groups as JSON: one piece for several short groups, several pieces for a long group. */
function* toGroupPieces(groups: ReadonlyMap<string, FoundAlert[]>) {
  let text = '';
  for (const [name, alerts] of groups) {
    const labels = JSON.stringify({ alertname: name });
    text += `${text === '' ? '' : ','}{"labels":${labels},"receiver":${JSON.stringify(receiver)},"alerts":[`;
    let isFirst = true;
    for (const some of joinRows(toRowTexts(alerts, toAlertmanagerAlert))) {
      if (!isFirst) yield toJsonRows(text);
      text = isFirst ? text + some : some;
      isFirst = false;
    }
    text += ']}';
    if (text.length < largeLength) continue;
    yield toJsonRows(text);
    text = '';
  }
  if (text !== '') yield toJsonRows(text);
}

const toShownLabels = (incident: SharedIncident): Record<string, string> => ({
  ...deriveLabels(incident),
  ...incident.labels,
});

const toAlertmanagerAlert = ({ incident, silencedBy, now }: FoundAlert): AlertmanagerAlert => ({
  labels: toShownLabels(incident),
  annotations: {
    summary: incident.title,
    incident: String(incident.number),
    ...(incident.acknowledged && { acknowledgedBy: incident.acknowledged.by }),
  },
  startsAt: toTimeText(incident.openedAt),
  updatedAt: toTimeText(incident.lastAt),
  endsAt: toTimeText(now + firingMs),
  fingerprint: hash('sha256', incident.id, 'hex').slice(0, 16),
  generatorURL: incident.link ?? '',
  receivers: [receiver],
  status: { state: silencedBy.length > 0 ? 'suppressed' : 'active', silencedBy, inhibitedBy: [] },
});

const createSilencesRoute = ({ silences }: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/v2/silences',
    ...reading,
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

/** Sorts active silences by end, then pending silences by start, then expired silences by end, latest first. */
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

const createSilenceRoute = ({ silences }: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/v2/silence/:id',
    ...reading,
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

const createPostRoute = ({ silences, clock }: RouteParts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/v2/silences',
    ...changing,
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

/** Sends refusals as 400 or 404 with a bare JSON string, all that clients read; `amtool silence import` needs the 404. */
const sendRefusal = (error: unknown, _request: FastifyRequest, reply: FastifyReply): void => {
  const known = toHttpError(error);
  const kind = { 400: 'invalid', 404: 'not-found', 409: 'invalid' }[known?.status ?? 0] as
    | 'invalid'
    | 'not-found'
    | undefined;
  reply.send(known && kind ? new HttpError(kind, known.message, { isBare: true }) : error);
};

/** Returns undefined for Go's zero time. @throws HttpError */
const requireTimeIfSet = (name: string, text: string): number | undefined =>
  text.startsWith('0001-01-01T00:00:00') ? undefined : requireTime(name, text);

const createExpireRoute = ({ silences }: RouteParts): Route =>
  defineRoute({
    method: 'DELETE',
    path: '/api/v2/silence/:id',
    ...changing,
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

const createReceiversRoute = (): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/v2/receivers',
    ...reading,
    summary: 'List receivers: always `signalbox` alone',
    schema: { operationId: 'listAlertmanagerReceivers', response: { 200: AlertmanagerReceivers } },
    handler: (_request, reply: FastifyReply) => sendJson(reply, [receiver]),
  });

const createStatusRoute = (version: string, startedAt: Date): Route => {
  const status = {
    cluster: { status: 'disabled', name: '', peers: [] },
    versionInfo: { version, revision: '', branch: '', buildUser: '', buildDate: '', goVersion: '' },
    config: { original: 'route:\n  receiver: signalbox\nreceivers:\n- name: signalbox\n' },
    uptime: startedAt.toISOString(),
  };
  return defineRoute({
    method: 'GET',
    path: '/api/v2/status',
    ...reading,
    summary: 'Get the status that clients of Alertmanager request first',
    schema: { operationId: 'getAlertmanagerStatus', response: { 200: AlertmanagerStatus } },
    handler: (_request, reply) => sendJson(reply, status),
  });
};

const matcherForm = /^\s*("(?:[^"\\]|\\.)+"|[^=!~"\s]+)\s*(=~|!~|!=|=)\s*(.*?)\s*$/s;

/** Parses a matcher of a query: `name=value` or `name=~"value"`; the name may be quoted too. @throws HttpError */
const parseMatcher = (text: string): SilenceMatcher => {
  const [, label = '"', operator = '', value = ''] = matcherForm.exec(text) ?? [];
  const [name, unquoted] = [unquote(label), unquote(value)];
  if (name === undefined || unquoted === undefined) {
    throw new HttpError('invalid', `filter must be a matcher such as alertname=~"Disk.*", not ${text.slice(0, 100)}`);
  }
  return { name, value: unquoted, isRegex: operator.endsWith('~'), isEqual: operator.startsWith('=') };
};

const escapes: Record<string, string> = { n: '\n', '"': '"', '\\': '\\' };

/** Returns undefined if a quote is missing. Unknown escapes stay, because they belong to regular expressions. */
const unquote = (text: string): string | undefined => {
  if (!text.startsWith('"') && !text.endsWith('"')) return text;
  const inner = /^"((?:[^"\\]|\\.)*)"$/s.exec(text)?.[1];
  return inner?.replaceAll(/\\(.)/gs, (whole, character: string) => escapes[character] ?? whole);
};
