import type { NotificationKind, SharedIncident } from '../../../kit/incident-source.ts';
import { type Severity, toSeverity } from '../../../kit/severity.ts';
import { minuteMs } from '../../../lib/units.ts';
import { isLike } from '../../../lib/wildcards.ts';
import type { IncidentRules, UsableHours } from './plan.ts';

const defaultOn: readonly NotificationKind[] = ['opened', 'raised', 'resolved'];
const defaultGroupSeconds = 10;
const defaultHoursExcept = ['CRITICAL'];

/** The keys of a destination that say when it is notified of incidents. */
export interface IncidentKeys {
  notify?: 'alerts' | 'incidents' | undefined;
  on?: readonly NotificationKind[] | undefined;
  after?: number | undefined;
  repeat?: number | undefined;
  groupSeconds?: number | undefined;
  hours?: string | undefined;
  hoursExcept?: readonly string[] | undefined;
  levels?: readonly string[] | undefined;
  sources?: readonly string[] | undefined;
}

const ofIncidents = ['on', 'after', 'repeat', 'groupSeconds', 'hours', 'hoursExcept'] as const;
const ofAlerts = ['formats', 'repeatMinutes', 'startAt'] as const;

/** Throws an Error for keys that mean nothing together. */
export const assertIncidentKeys = (keys: IncidentKeys & Partial<Record<(typeof ofAlerts)[number], unknown>>): void => {
  const { notify = 'alerts', on = defaultOn, repeat, hours, hoursExcept } = keys;
  if (notify === 'alerts') {
    const name = ofIncidents.find((one) => keys[one] !== undefined);
    if (name !== undefined) throw new Error(`${name} needs "notify": "incidents"`);
    return;
  }
  const name = ofAlerts.find((one) => keys[one] !== undefined);
  if (name !== undefined) throw new Error(`${name} is only for "notify": "alerts"`);
  if (on.includes('reminder') && repeat === undefined) throw new Error('on has reminder: set repeat, in minutes');
  if (repeat === undefined && on.every((kind) => kind === 'resolved')) {
    throw new Error(
      'on needs opened, raised or acknowledged: only those that were notified of an incident are notified of its end',
    );
  }
  if (hoursExcept !== undefined && hours === undefined) throw new Error('hoursExcept needs hours');
};

/** The rules in the settings of a destination; `toHours` reads its hours, and throws an Error where it cannot. */
export const toIncidentRules = (keys: IncidentKeys, toHours: (text: string) => UsableHours): IncidentRules => {
  const { on = defaultOn, after = 0, repeat, groupSeconds = defaultGroupSeconds, hours, sources } = keys;
  const levels = keys.levels?.map(toSeverity);
  return {
    on: new Set(on),
    afterMs: after * minuteMs,
    repeatMs: repeat === undefined ? undefined : repeat * minuteMs,
    groupMs: groupSeconds * 1000,
    hours: hours === undefined ? undefined : toHours(hours),
    hoursExcept: new Set<Severity>((keys.hoursExcept ?? defaultHoursExcept).map(toSeverity)),
    accepts: ({ level, source }: SharedIncident) =>
      (levels === undefined || levels.includes(level)) &&
      (sources === undefined || sources.some((pattern) => isLike(source, pattern))),
  };
};
