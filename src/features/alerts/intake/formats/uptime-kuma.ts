import Type from 'typebox';
import type { Severity } from '../../../../kit/severity.ts';
import { isObject } from '../../../../lib/parse-json.ts';
import { findDetails, toAlertLabels, toHostname, toSource } from '../fields.ts';
import { defineFormat } from '../format.ts';
import { toLink } from '../links.ts';
import { toRfc3339 } from '../times.ts';

/** Levels for the statuses down, up, pending and maintenance. */
const levels: readonly Severity[] = ['ERROR', 'INFO', 'WARNING', 'INFO'];
const up = 1;

/** Uptime Kuma webhook. `heartbeat` and `monitor` are null in tests and certificate warnings. */
export const uptimeKuma = defineFormat({
  name: 'uptime-kuma',
  summary: 'Store a notification of Uptime Kuma',
  schema: Type.Object(
    {
      heartbeat: Type.Optional(
        Type.Object({
          status: Type.Optional(
            Type.Integer({ description: '0 is down, 1 up, 2 pending, 3 maintenance.', examples: [0] }),
          ),
          time: Type.Optional(Type.String({ description: 'In UTC.', examples: ['2026-01-31 09:30:00.000'] })),
        }),
      ),
      monitor: Type.Optional(
        Type.Object({
          id: Type.Optional(Type.Integer()),
          name: Type.Optional(Type.String()),
          type: Type.Optional(Type.String()),
          hostname: Type.Optional(Type.String()),
          url: Type.Optional(Type.String()),
          description: Type.Optional(Type.String()),
        }),
      ),
      msg: Type.String(),
    },
    { title: 'UptimeKumaWebhook' },
  ),
  recognizes: (value) => isObject(value) && 'heartbeat' in value && 'monitor' in value && 'msg' in value,
  readAlerts: ({ heartbeat = {}, monitor = {}, msg }) => [
    {
      source: toSource('uptime-kuma', monitor.name),
      level: levels[heartbeat.status ?? -1] ?? 'WARNING',
      message: msg,
      details: findDetails(msg, monitor.description),
      hostname: toHostname(monitor.hostname, monitor.url),
      status: heartbeat.status === up ? 'resolved' : 'firing',
      fingerprint: monitor.id?.toString(),
      startsAt: toRfc3339(heartbeat.time),
      labels: toAlertLabels({ monitor: monitor.name, type: monitor.type }),
      link: toLink(monitor.url),
    },
  ],
});
