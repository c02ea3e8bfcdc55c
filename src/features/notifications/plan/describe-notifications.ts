import type { SharedIncident } from '../../../kit/incident.ts';
import type { IncidentNotification } from '../../../kit/incident-responses.ts';
import { toTimeOrNull, toTimeText } from '../../../kit/time.ts';
import type { IncidentDestination } from './incident-destination.ts';
import { isPlanned, type NotificationPlan } from './plan.ts';

type PlanFor = (destination: IncidentDestination) => NotificationPlan;

/**
 * Returns the last and next notification of an incident for each destination. Removed destinations have only a last
 * notification.
 */
export const describeNotifications = (
  incident: SharedIncident,
  destinations: readonly IncidentDestination[],
  planFor: PlanFor,
  now: number,
): IncidentNotification[] => {
  const names = destinations.map(({ name }) => name);
  const removed = Object.keys(incident.notices).filter((name) => !names.includes(name));
  return [
    ...destinations.flatMap((destination) => {
      const last = toLast(incident, destination.name);
      const next = toNext(incident, destination, planFor(destination), now);
      return last || next ? [{ destination: destination.name, last, next }] : [];
    }),
    ...removed.map((name) => ({ destination: name, last: toLast(incident, name), next: null })),
  ];
};

const toLast = ({ notices }: SharedIncident, destination: string): IncidentNotification['last'] => {
  const last = notices[destination];
  return last && !last.isPending ? { what: last.what, level: last.level, at: toTimeText(last.at) } : null;
};

const toNext = (
  incident: SharedIncident,
  destination: IncidentDestination,
  plan: NotificationPlan,
  now: number,
): IncidentNotification['next'] => {
  if (!isPlanned(plan)) return null;
  const { what, dueAt, waitsFor } = plan;
  const { attempts = 0, error = null, nextAttempt } = destination.describe(incident.id) ?? {};
  return {
    what,
    attempts,
    error,
    dueAt: toTimeOrNull(nextAttempt ?? dueAt),
    waitsFor: waitsFor === 'grouping' && dueAt <= now ? 'receiver' : waitsFor,
  };
};
