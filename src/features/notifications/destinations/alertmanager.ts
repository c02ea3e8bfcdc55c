import { toKnownHost, withoutResolvedMark } from '../../../kit/alert-record.ts';
import { rankOf, severities } from '../../../kit/severity.ts';
import { toTimeText } from '../../../kit/time.ts';
import type { DeliveredAlert } from '../message/alert.ts';
import type { IncidentMessage, IncidentUpdate } from '../message/message.ts';
import type { Outgoing } from '../message/outgoing.ts';
import { type DestinationType, jsonType, toBearer, toPathWith } from './type.ts';

/**
 * Milliseconds until an unresolved alert ends. Longer than 24 hours, because repeats within 24 hours are not delivered.
 * Without an end time, Alertmanager would resolve the alert after five minutes.
 */
const firingMs = 25 * 60 * 60 * 1000;

/** Milliseconds until the alert of an incident ends if its resolution is never delivered. */
const openMs = 30 * 24 * 60 * 60 * 1000;

/** Alertmanager with API version 2. `url` is the address of the server. Labels identify an alert. */
export const alertmanagerDestination: DestinationType = {
  name: 'alertmanager',
  knowsByLabels: true,
  secret: 'optional',
  secretHeader: 'authorization',
  toRequest: (outgoing, { url, secrets }) => ({
    path: toPathWith(url, '/api/v2/alerts'),
    headers: { ...jsonType, ...toBearer(secrets) },
    body: JSON.stringify(outgoing.alert ? toAlerts(outgoing) : toIncidentAlerts(outgoing.message)),
  }),
};

/** Returns the alerts to post. A resolution ends the alert at every severity, unless the sender set `severity`. */
const toAlerts = (outgoing: Outgoing & { alert: DeliveredAlert }): object[] => {
  const { alert } = outgoing;
  const { labels } = alert.ended ?? alert;
  if (alert.status !== 'resolved' || labels?.['severity'] !== undefined) return [toPostedAlert(outgoing, alert.level)];
  const levels = new Set([alert.firingLevel ?? alert.level, ...severities].map((level) => level.toLowerCase()));
  return Array.from(levels, (level) => toPostedAlert(outgoing, level));
};

const toPostedAlert = ({ alert, title }: Outgoing & { alert: DeliveredAlert }, level: string): object => {
  const { link, links = {}, details, via } = alert;
  return {
    labels: toPostedLabels({ ...alert, ...(alert.ended && toNamed(alert.ended)), level }),
    annotations: {
      summary: withoutResolvedMark(alert.message) || title,
      ...(details !== undefined && { description: details }),
      ...Object.fromEntries(Object.entries(links).map(([name, url]) => [toLabelName(`${name}_url`), url])),
      via,
    },
    startsAt: toStart(alert),
    ...toEnd(alert),
    ...(link !== undefined && { generatorURL: link }),
  };
};

/** Returns the fields that become labels. */
const toNamed = ({ source, hostname, labels = {} }: NonNullable<DeliveredAlert['ended']>) => ({
  source,
  hostname,
  labels,
});

const toStart = ({ startsAt, time }: DeliveredAlert): string => startsAt ?? time;

/** Returns the end time of an alert. Without an end time, Alertmanager resolves the alert after its own timeout. */
const toEnd = (alert: DeliveredAlert): { endsAt?: string } => {
  const { status, time, endsAt = time } = alert;
  if (status === 'firing') return { endsAt: new Date(Date.parse(time) + firingMs).toISOString() };
  if (status === undefined) return {};
  // Alertmanager rejects an end before the start.
  const start = toStart(alert);
  return { endsAt: Date.parse(endsAt) < Date.parse(start) ? start : endsAt };
};

/**
 * Returns the labels from the sender. Missing labels are derived from other fields. An alert without a host name gets a
 * label for this server, so that an identical alert from another server does not end it.
 */
const toPostedLabels = ({
  labels = {},
  source,
  level,
  hostname,
  origin = '',
}: Pick<DeliveredAlert, 'labels' | 'source' | 'level' | 'hostname' | 'origin'>): Record<string, string> => {
  const given = Object.entries(labels).map(([name, value]) => [toLabelName(name), value]);
  const instance = toKnownHost(hostname);
  const own = { alertname: source || 'signalbox', severity: level.toLowerCase(), instance };
  const named = Object.fromEntries([...Object.entries(own), ...given].filter(([, value]) => value !== ''));
  if (named['instance'] !== undefined || origin === '') return named;
  return { ...named, signalbox: origin.replace('signalbox/', '') };
};

/** Replaces characters that versions of Alertmanager before 0.27 reject. */
const toLabelName = (name: string): string => name.replaceAll(/[^a-zA-Z0-9_]/g, '_').replace(/^(?=\d)/, '_');

const toIncidentAlerts = (message: IncidentMessage): object[] =>
  message.updates.flatMap((update) => toAlertsOf(update, message));

/**
 * Returns the alert of the incident, together with resolutions of that alert at the other severities. Alertmanager
 * treats each severity as a separate alert. It sends no notification for the end of an alert that it does not know.
 */
const toAlertsOf = (
  { what, happenedAt: at, incident }: IncidentUpdate,
  { via, origin, link, updates }: IncidentMessage,
): object[] => {
  const { number, title, source, hostname, level, highestLevel, acknowledged, firstAt } = incident;
  const own = incident.labels ?? {};
  const labels = toPostedLabels({ labels: own, source, level, hostname, origin });
  const annotations = {
    summary: title,
    ...(acknowledged && { acknowledged_by: acknowledged.by }),
    via,
  };
  const url = updates.length === 1 ? link : incident.link;
  const toEntry = (severity: string | undefined, endsAt: number): object => ({
    labels: { ...labels, incident: String(number), ...(severity !== undefined && { severity }) },
    annotations,
    startsAt: toTimeText(firstAt),
    endsAt: toTimeText(Math.max(endsAt, firstAt)),
    ...(url && { generatorURL: url }),
  });
  const isResolved = what === 'resolved';
  // The sender's `severity` label is the same in all alerts of an incident.
  if (own['severity'] !== undefined) return [toEntry(undefined, isResolved ? at : at + openMs)];
  const ended = severities.filter((each) => rankOf(each) >= rankOf(highestLevel) && (isResolved || each !== level));
  return [
    ...(isResolved ? [] : [toEntry(level.toLowerCase(), at + openMs)]),
    ...(isResolved || what === 'raised' ? ended.map((each) => toEntry(each.toLowerCase(), at)) : []),
  ];
};
