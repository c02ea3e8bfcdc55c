import Type, { type Static } from 'typebox';
import type { Severity } from '../../../../kit/severity.ts';
import { isObject } from '../../../../lib/parse-json.ts';
import {
  findDetails,
  findFirstSeverity,
  firstText,
  listHostFields,
  listSeverityNames,
  toHostname,
  toLabels,
  toSource,
} from '../fields.ts';
import { defineFormat, type ForeignAlert } from '../format.ts';
import { toFingerprint } from '../hashes.ts';
import { listLinks, toLink, toLinks } from '../links.ts';
import { toRfc3339 } from '../times.ts';

/** What alerts of Prometheus, Alertmanager and Grafana have in common. */
const labelled = {
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

/** What a format knows of an alert besides its labels and annotations. */
interface Surroundings extends Pick<ForeignAlert, 'source' | 'fingerprint' | 'link'> {
  status?: ForeignAlert['status'] | undefined;
  /** Comes before all texts of the alert as the message. */
  problem?: string;
  /** The message where labels and annotations have none. */
  title?: string | undefined;
  /** The level where the labels have none. */
  level?: Severity;
}

/** The alert that labels and annotations describe. It is one literal: to copy its members takes longer than to read them. */
export const readLabelled = (
  { labels: given, annotations = {}, startsAt, endsAt }: Static<typeof Labelled>,
  { source, status = 'firing', fingerprint, link, problem = '', title, level = 'WARNING' }: Surroundings,
): ForeignAlert => {
  const labels = dropEmpty(given);
  const { summary, description, message: text } = annotations;
  const message = firstText(problem, summary, description, text, labels['alertname'], title);
  return {
    source,
    status,
    // Some senders tell their alerts apart by the labels only. Alerts without labels are not known to be the same.
    fingerprint: fingerprint || (Object.keys(labels).length > 0 ? toFingerprint(listByName(labels)) : undefined),
    link,
    message,
    level: findFirstSeverity(...listSeverityNames(labels)) ?? level,
    details: findDetails(message, description, text, ...(problem === '' ? [] : [summary])),
    links: toLinks(listLinks(annotations)),
    hostname: toHostname(...listHostFields(labels)),
    startsAt: toRfc3339(startsAt),
    endsAt: toRfc3339(endsAt),
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
    for (const each of alerts) {
      const alert = readLabelled(each, {
        source: toSource('prometheus', each.labels['alertname'], each.labels['job']),
        fingerprint: undefined,
        link: toLink(each.generatorURL),
      });
      // While an alert fires, Prometheus sends the time at which it would expire.
      if (alert.endsAt !== undefined && Date.parse(alert.endsAt) <= now.getTime()) alert.status = 'resolved';
      yield alert;
    }
  },
});

/** For Prometheus, a label with an empty value is missing. */
const dropEmpty = (labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.values(labels).includes('')
    ? Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''))
    : labels;

/** Names and values in turn, in the order of the names. */
const listByName = (labels: Readonly<Record<string, string>>): string[] => {
  const parts: string[] = [];
  for (const name of Object.keys(labels).sort()) parts.push(name, labels[name] ?? '');
  return parts;
};
