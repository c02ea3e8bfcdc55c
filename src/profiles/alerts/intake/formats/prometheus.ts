import Type from 'typebox';
import { toFingerprint, toLink, toSource, toTime } from '../fields.ts';
import { defineFormat, isObject } from '../format.ts';
import { labelled, readLabelled } from '../labelled.ts';

/** What Prometheus sends to the v2 API of an Alertmanager. */
export const prometheus = defineFormat({
  name: 'prometheus',
  summary: 'Store the alerts that a Prometheus sends',
  schema: Type.Array(Type.Object(labelled, { title: 'PrometheusAlert' })),
  recognizes: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((alert) => isObject(alert) && 'labels' in alert),
  *readAlerts(alerts, now) {
    for (const alert of alerts) {
      // While an alert fires, Prometheus sends the time at which it would expire.
      const endsAt = toTime(alert.endsAt);
      const isResolved = endsAt !== undefined && Date.parse(endsAt) <= now.getTime();
      yield {
        ...readLabelled(alert),
        source: toSource('prometheus', alert.labels['alertname'], alert.labels['job']),
        status: isResolved ? 'resolved' : 'firing',
        fingerprint: toFingerprint(Object.entries(alert.labels).sort(byName).flat()),
        link: toLink(alert.generatorURL),
      };
    }
  },
});

const byName = ([one]: [string, string], [other]: [string, string]): number => (one < other ? -1 : 1);
