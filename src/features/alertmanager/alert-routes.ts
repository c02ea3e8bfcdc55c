import { hash } from 'node:crypto';
import { ErrorBody } from '../../http/errors.ts';
import { joinRows, sendList, toJsonPieces, toJsonRows, toRowTexts, whenReady } from '../../http/json.ts';
import { createClientSignal, createQueue } from '../../http/overload.ts';
import { largeLength } from '../../http/response.ts';
import type { SharedIncident } from '../../kit/incident.ts';
import { parseMatcher } from '../../kit/matcher-text.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { deriveLabels } from '../../kit/silence-source.ts';
import { toTimeText } from '../../kit/time.ts';
import { Slice } from '../../lib/slice.ts';
import { type AlertmanagerParts, alertmanagerReading, alertmanagerReceiver } from './parts.ts';
import {
  type AlertmanagerAlert,
  AlertmanagerAlertGroups,
  AlertmanagerAlertQuery,
  AlertmanagerAlerts,
} from './schema.ts';

/** Milliseconds after which clients consider an alert resolved. */
const firingMs = 5 * 60 * 1000;

/** Creates the routes that list incidents as alerts. */
export const createAlertmanagerAlertRoutes = (parts: AlertmanagerParts): Route[] => [
  createAlertsRoute(parts),
  createGroupsRoute(parts),
];

const createAlertsRoute = (parts: AlertmanagerParts): Route => {
  const queue = createListQueue();
  return defineRoute({
    method: 'GET',
    path: '/api/v2/alerts',
    ...alertmanagerReading,
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

/** Limits concurrent lists. Each list may compare thousands of alerts. */
const createListQueue = () =>
  createQueue({ running: 2, waiting: 32, refusal: 'Too many lists of alerts are being read' });

const createGroupsRoute = (parts: AlertmanagerParts): Route => {
  const queue = createListQueue();
  return defineRoute({
    method: 'GET',
    path: '/api/v2/alerts/groups',
    ...alertmanagerReading,
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

/** Incident that matches the query, with its active silences. */
interface FoundAlert {
  incident: SharedIncident;
  silencedBy: string[];
  now: number;
}

/** Finds incidents that match the query. Rejects with an HttpError if the query is unusable. */
const findAlerts = async (
  { incidents, silences, clock }: AlertmanagerParts,
  { active, silenced, filter = [], receiver: wanted }: AlertmanagerAlertQuery,
): Promise<FoundAlert[]> => {
  const passes = silences.createFilter(filter.map(parseMatcher));
  const isReceiver = silences.createFilter(
    wanted === undefined ? [] : [{ name: 'receiver', value: wanted, isRegex: true, isEqual: true }],
  )(new Map([['receiver', alertmanagerReceiver.name]]));
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

/** Yields the groups as JSON. A piece contains several short groups, or part of a long group. */
function* toGroupPieces(groups: ReadonlyMap<string, FoundAlert[]>) {
  let text = '';
  for (const [name, alerts] of groups) {
    const labels = JSON.stringify({ alertname: name });
    text += `${text === '' ? '' : ','}{"labels":${labels},"receiver":${JSON.stringify(alertmanagerReceiver)},"alerts":[`;
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
  receivers: [alertmanagerReceiver],
  status: { state: silencedBy.length > 0 ? 'suppressed' : 'active', silencedBy, inhibitedBy: [] },
});
