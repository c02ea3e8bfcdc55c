import Type, { type Static } from 'typebox';
import type { Severity } from '../../../severity.ts';
import {
  findDetails,
  findFirstSeverity,
  firstText,
  listHosts,
  listLinks,
  listSeverityNames,
  toFingerprint,
  toHostname,
  toLabels,
  toLink,
  toLinks,
  toSource,
  toTime,
} from '../fields.ts';
import { defineFormat, type ForeignAlert, isObject } from '../format.ts';

/** What alerts of Prometheus, Alertmanager and Grafana have in common. */
export const labelled = {
  labels: Type.Record(Type.String(), Type.String(), {
    examples: [{ alertname: 'HostDown', severity: 'critical', instance: 'web-1:9100' }],
  }),
  annotations: Type.Optional(Type.Record(Type.String(), Type.String())),
  startsAt: Type.Optional(Type.String({ description: 'RFC 3339.', examples: ['2026-01-31T09:30:00Z'] })),
  endsAt: Type.Optional(Type.String({ description: 'RFC 3339; the year 1 means not yet.' })),
  generatorURL: Type.Optional(Type.String()),
};

/** The same with what Alertmanager and Grafana know about each alert. */
export const notified = {
  status: Type.Optional(Type.Enum(['firing', 'resolved'])),
  ...labelled,
  fingerprint: Type.Optional(Type.String()),
};

const Labelled = Type.Object(labelled);

/** The fields that labels and annotations say; `title` is used where these have no message, `level` where they have none. */
export const readLabelled = (
  { labels, annotations = {}, startsAt, endsAt }: Static<typeof Labelled>,
  { title, level = 'WARNING' }: { title?: string | undefined; level?: Severity } = {},
): Omit<ForeignAlert, 'source' | 'status'> => {
  const { summary, description, message: text } = annotations;
  const message = firstText(summary, description, text, labels['alertname'], title);
  return {
    level: findFirstSeverity(...listSeverityNames(labels)) ?? level,
    message,
    details: findDetails(message, description, text),
    links: toLinks(listLinks(annotations)),
    hostname: toHostname(...listHosts(labels)),
    startsAt: toTime(startsAt),
    endsAt: toTime(endsAt),
    labels: toLabels(labels),
    via: firstText(annotations['via'], labels['via']),
  };
};

/** What Prometheus sends to the v2 API of an Alertmanager. */
export const prometheus = defineFormat({
  name: 'prometheus',
  summary: 'Store the alerts that a Prometheus sends',
  schema: Type.Array(Type.Object(labelled, { title: 'PrometheusAlert' })),
  recognizes: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((alert) => isObject(alert) && 'labels' in alert),
  *readAlerts(alerts, now) {
    for (const alert of alerts) {
      const fields = readLabelled(alert);
      // While an alert fires, Prometheus sends the time at which it would expire.
      const isResolved = fields.endsAt !== undefined && Date.parse(fields.endsAt) <= now.getTime();
      yield {
        ...fields,
        source: toSource('prometheus', alert.labels['alertname'], alert.labels['job']),
        status: isResolved ? 'resolved' : 'firing',
        fingerprint: toFingerprint(listByName(alert.labels)),
        link: toLink(alert.generatorURL),
      };
    }
  },
});

/** Names and values in turn, in the order of the names. */
const listByName = (labels: Readonly<Record<string, string>>): string[] => {
  const parts: string[] = [];
  for (const name of Object.keys(labels).sort()) parts.push(name, labels[name] ?? '');
  return parts;
};
