import Type from 'typebox';
import { isObject } from '../../../../lib/parse-json.ts';
import { firstText, toSource } from '../fields.ts';
import { defineFormat } from '../format.ts';
import { listLinks, toLink, toLinks } from '../links.ts';
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
      const { labels, annotations = {}, panelURL: panel, dashboardURL: dashboard, silenceURL: silence } = alert;
      const rule = firstText(labels['rulename'], labels['alertname']);
      yield {
        ...readLabelled(alert, {
          source: toSource('grafana', rule, labels['grafana_folder'], labels['folder'], receiver),
          problem: describeProblem(rule, labels['alertname'], annotations['Error']),
          status: alert.status,
          fingerprint: alert.fingerprint,
          link: toLink(alert.generatorURL, panel, dashboard),
          title,
          level: 'ERROR',
        }),
        links: toLinks({ ...listLinks(annotations), dashboard, panel, silence }),
      };
    }
  },
});

/**
 * Describes the alerts that Grafana itself raises when the query of a rule fails or returns nothing. The name of the
 * rule is in a label.
 */
const describeProblem = (rule: string, name: string | undefined, error = ''): string => {
  if (name === 'DatasourceNoData') return `${rule}: no data`;
  if (name === 'DatasourceError') return `${rule}: ${error || 'the query failed'}`;
  return '';
};
