import Type from 'typebox';
import { isObject } from '../../../../lib/parse-json.ts';
import { toSource } from '../fields.ts';
import { defineFormat } from '../format.ts';
import { toLink } from '../links.ts';
import { notified, readLabelled } from './prometheus.ts';

/** Alertmanager's webhook, version 4. */
export const alertmanagerFormat = defineFormat({
  name: 'alertmanager',
  summary: 'Store the alerts of an Alertmanager webhook',
  schema: Type.Object(
    {
      version: Type.Optional(Type.String({ examples: ['4'] })),
      receiver: Type.Optional(Type.String()),
      status: Type.Optional(Type.String()),
      alerts: Type.Array(Type.Object(notified)),
    },
    { title: 'AlertmanagerWebhook' },
  ),
  recognizes: (value) => isObject(value) && Array.isArray(value['alerts']) && value['version'] === '4',
  *readAlerts({ alerts, receiver }) {
    for (const alert of alerts) {
      const { labels } = alert;
      yield readLabelled(alert, {
        source: toSource('alertmanager', labels['alertname'], labels['job'], receiver),
        status: alert.status,
        fingerprint: alert.fingerprint,
        link: toLink(alert.generatorURL),
      });
    }
  },
});
