import Type, { type Static } from 'typebox';
import type { Severity } from '../../../../kit/severity.ts';
import { isObject } from '../../../../lib/parse-json.ts';
import {
  findDetails,
  findFirstSeverity,
  firstText,
  listHostFields,
  listSeverityNames,
  toAlertLabels,
  toHostname,
  toSource,
} from '../fields.ts';
import { defineFormat, type ForeignAlert } from '../format.ts';
import { toFingerprint } from '../hashes.ts';
import { listLinks, toLink, toLinks } from '../links.ts';
import { toRfc3339 } from '../times.ts';

/** Fields shared by Prometheus, Alertmanager and Grafana alerts. */
const labelled = {
  labels: Type.Record(Type.String(), Type.String(), {
    examples: [{ alertname: 'HostDown', severity: 'critical', instance: 'web-1:9100' }],
  }),
  annotations: Type.Optional(Type.Record(Type.String(), Type.String())),
  startsAt: Type.Optional(Type.String({ description: 'RFC 3339.', examples: ['2026-01-31T09:30:00Z'] })),
  endsAt: Type.Optional(Type.String({ description: 'RFC 3339. Year 1 means that the alert has not ended.' })),
  generatorURL: Type.Optional(Type.String()),
};

/** Fields shared by Alertmanager and Grafana alerts. */
export const notified = {
  status: Type.Optional(Type.Enum(['firing', 'resolved'])),
  ...labelled,
  fingerprint: Type.Optional(Type.String()),
};

const Labelled = Type.Object(labelled);

/** Facts about an alert besides its labels and annotations. */
interface Surroundings extends Pick<ForeignAlert, 'source' | 'fingerprint' | 'link'> {
  status?: ForeignAlert['status'] | undefined;
  /** Message that overrides the text of the alert itself. */
  problem?: string;
  /** Message to use if the labels and annotations contain none. */
  title?: string | undefined;
  /** Level to use if the labels contain none. */
  level?: Severity;
}

/**
 * Converts labels and annotations to an alert. Uses a single object literal, because copying members would be slower.
 */
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
    // Some senders distinguish alerts only by labels. Alerts without labels are never repeats.
    fingerprint: fingerprint || (Object.keys(labels).length > 0 ? toFingerprint(listByName(labels)) : undefined),
    link,
    message,
    level: findFirstSeverity(...listSeverityNames(labels)) ?? level,
    details: findDetails(message, description, text, ...(problem === '' ? [] : [summary])),
    links: toLinks(listLinks(annotations)),
    hostname: toHostname(...listHostFields(labels)),
    startsAt: toRfc3339(startsAt),
    endsAt: toRfc3339(endsAt),
    labels: toAlertLabels(labels),
    via: firstText(annotations['via'], labels['via']),
  };
};

/** Alerts that Prometheus sends to Alertmanager's v2 API. */
export const prometheus = defineFormat({
  name: 'prometheus',
  summary: 'Store alerts that Prometheus sends',
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
      // While an alert fires, Prometheus sends a future `endsAt` at which the alert would expire.
      if (alert.endsAt !== undefined && Date.parse(alert.endsAt) <= now.getTime()) alert.status = 'resolved';
      yield alert;
    }
  },
});

/** Drops labels with empty values. Prometheus treats them as missing. */
const dropEmpty = (labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.values(labels).includes('')
    ? Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''))
    : labels;

/** Returns names and values alternately, ordered by name. */
const listByName = (labels: Readonly<Record<string, string>>): string[] => {
  const parts: string[] = [];
  for (const name of Object.keys(labels).sort()) parts.push(name, labels[name] ?? '');
  return parts;
};
