import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { needs, openFor } from '../../auth/access.ts';
import { callerOf } from '../../auth/guard.ts';
import { ErrorBody, HttpError, toHttpError } from '../../http/errors.ts';
import { sendJson, sendList, toJsonRows, whenReady } from '../../http/json.ts';
import { createClientSignal, createQueue } from '../../http/overload.ts';
import { requireTime } from '../../http/text-forms.ts';
import {
  type IncidentSource,
  listMadeLabels,
  type SharedIncident,
  type SharedSilence,
  type SilenceMatcher,
  type SilenceStore,
} from '../offers.ts';
import { defineRoute, type Route, toTimeText } from '../route.ts';
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

/** After so many milliseconds clients take an alert for resolved. */
const firingMs = 5 * 60 * 1000;

/** There is one receiver: destinations are no concern of these programs. */
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

/** What programs ask for, whatever there is. */
export const createServerRoutes = (version: string, startedAt: Date): Route[] => [
  createReceiversRoute(),
  createStatusRoute(version, startedAt),
];

const reading = openFor('incidents:read');
const changing = needs('incidents:write');

const createAlertsRoute = (parts: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/v2/alerts',
    ...reading,
    summary: 'List incidents that are not resolved, as alerts',
    schema: {
      operationId: 'listAlertmanagerAlerts',
      querystring: AlertmanagerAlertQuery,
      response: { 200: AlertmanagerAlerts },
    },
    handler: ({ query }, reply) => {
      const pieces = toPieces(readAlerts(parts, query));
      return sendList(reply, { opening: '[', pieces, closing: ']' });
    },
  });

const createGroupsRoute = (parts: RouteParts): Route => {
  const queue = createQueue({ running: 2, waiting: 32, refusal: 'Too many lists of alerts are being read' });
  return defineRoute({
    method: 'GET',
    path: '/api/v2/alerts/groups',
    ...reading,
    summary: 'The same, grouped by the label alertname',
    schema: {
      operationId: 'listAlertmanagerAlertGroups',
      querystring: AlertmanagerAlertQuery,
      response: { 200: AlertmanagerAlertGroups },
    },
    handler: ({ query }, reply) => {
      const alerts = readAlerts(parts, query);
      const grouped = queue.run(() => groupAlerts(alerts), createClientSignal(reply));
      return whenReady(reply, grouped, (groups) => {
        const pieces = Array.from(groups, ([name, members]) => [
          { labels: { alertname: name }, receiver, alerts: members },
        ]);
        return sendList(reply, { opening: '[', pieces, closing: ']' });
      });
    },
  });
};

/** The alerts that pass the query, some at a time. Throws an HttpError for a query that cannot be used. */
const readAlerts = (
  { incidents, silences, clock }: RouteParts,
  { active, silenced, filter = [], receiver: wanted }: AlertmanagerAlertQuery,
): AsyncIterable<AlertmanagerAlert[]> => {
  const passes = silences.createFilter(filter.map(parseMatcher));
  const isReceiver = silences.createFilter(
    wanted === undefined ? [] : [{ name: 'receiver', value: wanted, isRegex: true, isEqual: true }],
  )(new Map([['receiver', receiver.name]]));
  const toAlert = (incident: SharedIncident): AlertmanagerAlert[] => {
    const subject = { ...incident, text: incident.title };
    if (incident.state === 'resolved' || !passes(silences.labelsOf(subject))) return [];
    const now = clock().getTime();
    const silencedBy = silences.silencesOf(subject, now);
    const isWanted = silencedBy.length > 0 ? silenced : active;
    return isWanted === 'true' ? [toAlertmanagerAlert(incident, silencedBy, now)] : [];
  };
  return (async function* () {
    if (!isReceiver) return;
    for await (const some of incidents.listUnsettled()) yield some.flatMap(toAlert);
  })();
};

async function* toPieces(alerts: AsyncIterable<AlertmanagerAlert[]>) {
  for await (const some of alerts) {
    if (some.length > 0) yield toJsonRows(some.map((alert) => JSON.stringify(alert)).join(','));
  }
}

const groupAlerts = async (alerts: AsyncIterable<AlertmanagerAlert[]>): Promise<Map<string, AlertmanagerAlert[]>> => {
  const groups = new Map<string, AlertmanagerAlert[]>();
  for await (const some of alerts) {
    for (const alert of some) {
      const name = alert.labels['alertname'] ?? '';
      const known = groups.get(name);
      if (known) known.push(alert);
      else groups.set(name, [alert]);
    }
  }
  return groups;
};

const toAlertmanagerAlert = (incident: SharedIncident, silencedBy: string[], now: number): AlertmanagerAlert => ({
  labels: { ...listMadeLabels(incident), ...incident.labels },
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
    summary: 'List silences, those that hold now first',
    schema: {
      operationId: 'listAlertmanagerSilences',
      querystring: AlertmanagerSilenceQuery,
      response: { 200: AlertmanagerSilences },
    },
    handler: ({ query: { filter = [] } }, reply) => {
      const passes = silences.createFilter(filter.map(parseMatcher));
      const found = silences
        .list()
        .filter(({ matchers }) => passes(new Map(matchers.map(({ name, value }) => [name, value]))))
        .sort(compareSilences)
        .map(toAlertmanagerSilence);
      return sendList(reply, { opening: '[', pieces: toParts(found), closing: ']' });
    },
  });

/** How many silences are written at once. */
const partCount = 500;

const toParts = <T extends object>(values: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(values.length / partCount) }, (_, index) =>
    values.slice(index * partCount, (index + 1) * partCount),
  );

const ranks = { active: 0, pending: 1, expired: 2 };

/** The next to end comes first, of pending ones the next to begin, of expired ones the last. */
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
  ...{ id, status: { state }, matchers: [...matchers] },
  ...{
    startsAt: toTimeText(startsAt),
    endsAt: toTimeText(endsAt),
    updatedAt: toTimeText(updatedAt),
    createdBy,
    comment,
  },
});

const createSilenceRoute = ({ silences }: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/v2/silence/:id',
    ...reading,
    summary: 'One silence',
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
    summary: 'Create a silence, or change one',
    schema: {
      operationId: 'postAlertmanagerSilence',
      body: AlertmanagerNewSilence,
      response: { 200: AlertmanagerSilenceId, 400: AlertmanagerRefusal, 404: ErrorBody, 409: ErrorBody },
    },
    errorHandler: sendRefusal,
    handler: async (request, reply) => {
      const { id, matchers, startsAt, endsAt, createdBy, comment } = request.body;
      const given = {
        matchers: matchers.map(({ name, value, isRegex, isEqual = true }) => ({ name, value, isRegex, isEqual })),
        startsAt: readTime('startsAt', startsAt) ?? clock().getTime(),
        endsAt: readTime('endsAt', endsAt) ?? 0,
        ...{ createdBy, comment },
      };
      const by = callerOf(request);
      const silenceID = id ? await silences.replace(id, given, by) : await silences.create(given, by);
      if (silenceID === undefined) throw toAbsence(id ?? '');
      return sendJson(reply, { silenceID });
    },
  });

const sendRefusal = (error: unknown, _request: FastifyRequest, reply: FastifyReply): void => {
  const known = toHttpError(error);
  reply.send(known?.status === 400 ? new HttpError('invalid', known.message, { isBare: true }) : error);
};

/** Undefined for the time that Go has where none is set. @throws HttpError */
const readTime = (name: string, text: string): number | undefined =>
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
    summary: 'List the one receiver',
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
    summary: 'What programs of Alertmanager ask for first',
    schema: { operationId: 'getAlertmanagerStatus', response: { 200: AlertmanagerStatus } },
    handler: (_request, reply) => sendJson(reply, status),
  });
};

const matcherForm = /^\s*("(?:[^"\\]|\\.)+"|[^=!~"\s]+)\s*(=~|!~|!=|=)\s*(.*?)\s*$/s;

/** A matcher as Alertmanager's API has it in a query: `name=value` or `name=~"value"`; names can be quoted, too. @throws HttpError */
const parseMatcher = (text: string): SilenceMatcher => {
  const [, label = '"', operator = '', value = ''] = matcherForm.exec(text) ?? [];
  const [name, unquoted] = [unquote(label), unquote(value)];
  if (name === undefined || unquoted === undefined) {
    throw new HttpError('invalid', `filter must be a matcher such as alertname=~"Disk.*", not ${text.slice(0, 100)}`);
  }
  return { name, value: unquoted, isRegex: operator.endsWith('~'), isEqual: operator.startsWith('=') };
};

const escapes: Record<string, string> = { n: '\n', '"': '"', '\\': '\\' };

/** Undefined where a quote is missing. Other escapes stay as they are: they are those of regular expressions. */
const unquote = (text: string): string | undefined => {
  if (!text.startsWith('"') && !text.endsWith('"')) return text;
  const inner = /^"((?:[^"\\]|\\.)*)"$/s.exec(text)?.[1];
  return inner?.replaceAll(/\\(.)/gs, (whole, character: string) => escapes[character] ?? whole);
};
