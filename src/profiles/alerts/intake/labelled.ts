import Type, { type Static } from 'typebox';
import type { Severity } from '../../severity.ts';
import {
  findLevel,
  firstText,
  listHosts,
  listLevels,
  listLinks,
  toDetails,
  toHostname,
  toLabels,
  toLinks,
  toTime,
} from './fields.ts';
import type { ForeignAlert } from './format.ts';

const Texts = Type.Record(Type.String(), Type.String());

/** What alerts of Prometheus, Alertmanager and Grafana have in common. */
export const labelled = {
  labels: Type.Record(Type.String(), Type.String(), {
    examples: [{ alertname: 'HostDown', severity: 'critical', instance: 'web-1:9100' }],
  }),
  annotations: Type.Optional(Texts),
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
    level: findLevel(...listLevels(labels)) ?? level,
    message,
    details: toDetails(message, description, text),
    links: toLinks(listLinks(annotations)),
    hostname: toHostname(...listHosts(labels)),
    startsAt: toTime(startsAt),
    endsAt: toTime(endsAt),
    labels: toLabels(labels),
    via: firstText(annotations['via'], labels['via']),
  };
};
