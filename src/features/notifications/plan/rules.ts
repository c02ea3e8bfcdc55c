import type { NotificationEvent, SharedIncident } from '../../../kit/incident.ts';
import { type Severity, toSeverity } from '../../../kit/severity.ts';
import { minuteMs } from '../../../lib/units.ts';
import { isLike } from '../../../lib/wildcards.ts';
import type { DestinationSettings } from '../settings.ts';
import type { IncidentRules, UsableHours } from './plan.ts';

const defaultOn: readonly NotificationEvent[] = ['opened', 'raised', 'resolved'];
const defaultGroupSeconds = 10;
const defaultHoursExcept = ['CRITICAL'];

/** Settings that decide when a destination is notified of incidents. */
export type IncidentOptions = Partial<
  Pick<
    DestinationSettings,
    'notify' | 'on' | 'after' | 'repeat' | 'groupSeconds' | 'hours' | 'hoursExcept' | 'levels' | 'sources'
  >
>;

const ofIncidents = ['on', 'after', 'repeat', 'groupSeconds', 'hours', 'hoursExcept'] as const;
const ofAlerts = ['formats', 'repeatMinutes', 'startAt'] as const;

/** Throws an Error if settings contradict each other. */
export const assertIncidentOptions = (
  keys: IncidentOptions & Partial<Record<(typeof ofAlerts)[number], unknown>>,
): void => {
  const { notify = 'alerts', on = defaultOn, repeat, hours, hoursExcept } = keys;
  if (notify === 'alerts') {
    const name = ofIncidents.find((one) => keys[one] !== undefined);
    if (name !== undefined) throw new Error(`${name} needs "notify": "incidents"`);
    return;
  }
  const name = ofAlerts.find((one) => keys[one] !== undefined);
  if (name !== undefined) throw new Error(`${name} can be used only with "notify": "alerts"`);
  if (on.includes('reminder') && repeat === undefined)
    throw new Error('on contains reminder, so repeat is required: set repeat, in minutes');
  if (repeat === undefined && on.every((kind) => kind === 'resolved')) {
    throw new Error(
      'on must contain opened, raised or acknowledged, because a resolution is sent only to destinations that were notified of the incident before',
    );
  }
  if (hoursExcept !== undefined && hours === undefined) throw new Error('hoursExcept needs hours');
};

/** Converts the settings of a destination to rules. `toHours` parses `hours`, or throws an Error. */
export const toIncidentRules = (keys: IncidentOptions, toHours: (text: string) => UsableHours): IncidentRules => {
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
