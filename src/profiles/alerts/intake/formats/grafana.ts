import Type from 'typebox';
import { listLinks, toLink, toLinks, toSource } from '../fields.ts';
import { defineFormat, isObject } from '../format.ts';
import { notified, readLabelled } from './prometheus.ts';

const Url = Type.Optional(Type.String());

/** Grafana's webhook contact point. */
export const grafana = defineFormat({
  name: 'grafana',
  summary: 'Store the alerts of a Grafana webhook contact point',
  schema: Type.Object(
    {
      version: Type.Optional(Type.String({ examples: ['1'] })),
      receiver: Type.Optional(Type.String()),
      title: Type.Optional(Type.String()),
      alerts: Type.Array(Type.Object({ ...notified, dashboardURL: Url, panelURL: Url, silenceURL: Url })),
    },
    { title: 'GrafanaWebhook' },
  ),
  signature: { header: 'x-grafana-alerting-signature', timestampHeader: 'x-grafana-alerting-timestamp' },
  recognizes: (value) => isObject(value) && Array.isArray(value['alerts']) && value['version'] === '1',
  *readAlerts({ alerts, receiver, title }) {
    for (const alert of alerts) {
      const { labels } = alert;
      yield {
        ...readLabelled(alert, { title, level: 'ERROR' }),
        source: toSource('grafana', labels['alertname'], labels['grafana_folder'], labels['folder'], receiver),
        status: alert.status ?? 'firing',
        fingerprint: alert.fingerprint,
        link: toLink(alert.generatorURL, alert.panelURL, alert.dashboardURL),
        links: toLinks({
          ...listLinks(alert.annotations ?? {}),
          ...{ dashboard: alert.dashboardURL, panel: alert.panelURL, silence: alert.silenceURL },
        }),
      };
    }
  },
});
