import { toTimeOrNull, toTimeText } from '../../kit/time.ts';
import { minuteMs } from '../../lib/units.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { Forwarder } from './forwarder/forwarder.ts';
import { createGlances, unknownGlance } from './forwarder/glances.ts';
import type { AnyDestination } from './open-destination.ts';
import { IncidentDestination } from './plan/incident-destination.ts';
import type { Notifier } from './plan/notifier.ts';
import type { IncidentRules } from './plan/plan.ts';
import type { IncidentOptions } from './plan/rules.ts';
import type { DestinationState } from './schema.ts';

/** Maximum number of given-up alerts, waiting alerts and notifications listed per destination. */
const mostListed = 100;

/** Maximum number of incidents whose next notifications are listed. */
const mostPlanned = 1000;

export type ListDestinations = () => readonly AnyDestination[];

export type ListDeliveries = ReturnType<typeof createDeliveryList>;

type WaitingNotification = DestinationState['waitingNotices'][number];

/** Creates the function that lists all destinations with their delivery status. */
export const createDeliveryList = (
  list: ListDestinations,
  alerts: Pick<RecordLog, 'readAfter'>,
  notifier: Pick<Notifier, 'listPlanned'>,
  clock: () => Date,
  isQuiet: boolean,
) => {
  const look = createGlances(alerts);
  return async () => {
    const all = list();
    const notifications = all.some((one) => one instanceof IncidentDestination)
      ? listNextNotifications(all, notifier)
      : undefined;
    const listed = all.map((destination) => ({ destination, ...listAlerts(destination) }));
    const glances = await look(listed.flatMap(({ parked, waiting }) => [...parked, ...waiting]));
    const addGlance = <T extends { seq: number; id: string }>({ seq: _, ...alert }: T) => ({
      ...alert,
      ...(glances.get(alert.id) ?? unknownGlance),
    });
    const data = listed.map(
      ({ destination, parked, waiting }): DestinationState => ({
        ...toState(destination, clock()),
        parkedAlerts: parked.map(addGlance),
        waitingAlerts: waiting.map(addGlance),
        waitingNotices: notifications?.get(destination.name) ?? [],
      }),
    );
    return { count: data.length, data, quiet: isQuiet };
  };
};

/** Groups the next notifications by destination name. */
const listNextNotifications = (all: readonly AnyDestination[], notifier: Pick<Notifier, 'listPlanned'>) => {
  const byName = new Map<string, WaitingNotification[]>();
  const waiting = all.flatMap((one) => (one instanceof IncidentDestination ? one.listIds(mostListed) : []));
  for (const { incident, notifications } of notifier.listPlanned(waiting, mostPlanned)) {
    for (const { destination, next } of notifications) {
      const listed = byName.get(destination) ?? [];
      byName.set(destination, listed);
      const { id, number, title, level } = incident;
      if (next) listed.push({ incident: id, number, title, level, ...next });
    }
  }
  const order = ({ dueAt }: WaitingNotification) => (dueAt === null ? Number.POSITIVE_INFINITY : Date.parse(dueAt));
  for (const [name, listed] of byName) {
    byName.set(
      name,
      listed.sort((one, other) => order(one) - order(other) || one.number - other.number).slice(0, mostListed),
    );
  }
  return byName;
};

/** Lists the given-up and waiting alerts of a destination. */
const listAlerts = (destination: AnyDestination) => {
  if (destination instanceof IncidentDestination) return { parked: [], waiting: [] };
  const parked = [...destination.progress.parked].slice(-mostListed);
  const waiting = [...destination.queue.waiting.list()].sort((one, other) => one.seq - other.seq).slice(0, mostListed);
  return {
    parked: parked.map(([seq, alert]) => ({ seq, ...alert })),
    waiting: waiting.map((alert) => ({
      seq: alert.seq,
      id: alert.content.id,
      attempts: alert.attempts,
      time: toTimeText(alert.receivedAt),
      nextAttempt: toTimeOrNull(destination.queue.nextAttemptOf(alert)),
    })),
  };
};

const toState = (destination: AnyDestination, now: Date) => {
  const { name, definition, health, queue, waitingSince = now.getTime() } = destination;
  const { levels = null, sources = null, formats = null, notify = 'alerts' } = definition.settings;
  const { lastSuccess, lastError, failing } = health;
  const isOfAlerts = destination instanceof Forwarder;
  return {
    destination: name,
    type: definition.type.name,
    address: definition.address,
    notify,
    incidents: isOfAlerts ? null : toShownRules(definition),
    repeatMinutes: isOfAlerts ? destination.repeatMinutes : 0,
    filter: { levels, sources, formats },
    state: destination.state,
    failingSince: failing?.since ?? null,
    lagAlerts: isOfAlerts ? destination.lag : 0,
    lagIncidents: isOfAlerts ? 0 : destination.lag,
    lagSeconds: Math.max(0, now.getTime() - waitingSince) / 1000,
    lastSuccess: lastSuccess?.toISOString() ?? null,
    lastError: lastError ? { time: lastError.time.toISOString(), reason: lastError.reason } : toLastError(failing),
    nextAttempt: toTimeOrNull(queue.nextAt),
    parked: isOfAlerts ? destination.progress.givenUpCount : 0,
    dropped: isOfAlerts ? destination.progress.dropped : 0,
  };
};

const toShownRules = ({ rules, settings }: { rules: IncidentRules; settings: IncidentOptions }) => ({
  on: [...rules.on],
  after: rules.afterMs / minuteMs,
  repeat: rules.repeatMs === undefined ? null : rules.repeatMs / minuteMs,
  groupSeconds: rules.groupMs / 1000,
  hours: settings.hours ?? null,
  hoursExcept: [...rules.hoursExcept],
});

/** Returns the stored reason for the failure, because the last error itself is lost in a restart. */
const toLastError = (failing: { since: string; reason: string } | undefined) =>
  failing ? { time: failing.since, reason: failing.reason } : null;
