import Type, { type Static } from 'typebox';
import { dayMs, hourMs, minuteMs } from '../../lib/units.ts';
import type { Rules } from './rules.ts';

export const incidentSettings = {
  incidentLevel: Type.Enum(['CRITICAL', 'ERROR', 'WARNING'], {
    type: 'string',
    default: 'WARNING',
    description: 'Alerts of this severity or worse open incidents.',
  }),
  reopenMinutes: Type.Number({
    minimum: 0,
    maximum: 10_080,
    default: 30,
    description: 'Minutes after the resolution of an incident during which a new alert reopens the incident.',
  }),
  quietHours: Type.Number({
    minimum: 0,
    maximum: 8760,
    default: 24,
    description:
      'Hours without alerts after which an incident is resolved, unless its sender sends resolutions; 0: never.',
  }),
  incidentsRetainDays: Type.Integer({
    minimum: 0,
    default: 90,
    description: 'Days to keep a resolved incident; 0 keeps all. At most 100,000 resolved incidents are kept.',
  }),
  dependsGraceSeconds: Type.Number({
    minimum: 0,
    maximum: 86_400,
    default: 120,
    description:
      'Seconds that an incident waits to notify after its cause is resolved. Also the longest wait for the check of a possible cause.',
  }),
};
export type IncidentSettings = Static<ReturnType<typeof Type.Object<typeof incidentSettings>>>;

/** Default rules. Instances that share a database use them until one has stored its settings. */
export const firstRules: Rules = { level: 'WARNING', reopenMs: 30 * minuteMs, quietMs: dayMs, retainMs: 90 * dayMs };

export const toRules = ({
  incidentLevel,
  reopenMinutes,
  quietHours,
  incidentsRetainDays,
}: IncidentSettings): Rules => ({
  level: incidentLevel,
  reopenMs: Math.ceil(reopenMinutes * minuteMs),
  quietMs: Math.ceil(quietHours * hourMs),
  retainMs: incidentsRetainDays * dayMs,
});
