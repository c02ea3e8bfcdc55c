import type { Meters } from '../../metrics/meters.ts';
import { Forwarder } from './forwarder/forwarder.ts';
import type { AnyDestination } from './open-destination.ts';
import { IncidentDestination } from './plan/incident-destination.ts';

/** Adds the destination metrics. */
export const addDeliveryMeters = (
  { reading }: Meters,
  list: () => readonly AnyDestination[],
  clock: () => Date,
): void => {
  const ofAlerts = () => list().filter((one) => one instanceof Forwarder);
  const ofIncidents = () => list().filter((one) => one instanceof IncidentDestination);
  const gauge = <T extends AnyDestination>(
    name: string,
    help: string,
    of: () => readonly T[],
    read: (one: T) => number,
  ) => reading('gauge', name, help, () => of().map((each) => [[each.name], read(each)] as const), ['destination']);
  reading(
    'counter',
    'signalbox_deliveries_total',
    'Attempts to deliver an alert or a notification, by result.',
    () =>
      list().flatMap(({ name, health }) =>
        Object.entries(health.outcomes).map(([result, count]) => [[name, result], count] as const),
      ),
    ['destination', 'result'],
  );
  reading(
    'counter',
    'signalbox_notifications_total',
    'Notifications of incidents that were delivered or given up, by event and result.',
    () =>
      ofIncidents().flatMap(({ name, counts }) =>
        Array.from(counts, ([key, count]) => [[name, ...key.split(' ')], count] as const),
      ),
    ['destination', 'what', 'result'],
  );
  gauge('signalbox_delivery_lag_alerts', 'Alerts not yet delivered, given up or skipped.', ofAlerts, ({ lag }) => lag);
  gauge(
    'signalbox_notifications_waiting',
    'Incidents for which a notification is due now.',
    ofIncidents,
    ({ lag }) => lag,
  );
  gauge(
    'signalbox_delivery_parked_alerts',
    'Alerts that were given up.',
    ofAlerts,
    ({ progress }) => progress.givenUpCount,
  );
  gauge(
    'signalbox_destination_failing',
    '1 if the destination is failing: its receiver accepts no messages; otherwise 0.',
    list,
    ({ health }) => (health.failing ? 1 : 0),
  );
  gauge(
    'signalbox_delivery_oldest_pending_seconds',
    'Age of the oldest waiting alert or notification; 0 if nothing is waiting.',
    list,
    ({ waitingSince }) => (waitingSince === undefined ? 0 : Math.max(0, clock().getTime() - waitingSince) / 1000),
  );
};
