import type { Meters } from '../../../metrics/meters.ts';
import type { Destination } from './delivery/destination.ts';
import type { Outbox } from './outbox.ts';

/** Measures each destination when metrics are scraped. */
export const addDeliveryMeters = ({ reading }: Meters, outbox: Outbox, clock: () => Date): void => {
  const gauge = (name: string, help: string, read: (destination: Destination) => number): void =>
    reading('gauge', name, help, () => outbox.list().map((each) => [[each.name], read(each)] as const), [
      'destination',
    ]);
  reading(
    'counter',
    'signalbox_deliveries_total',
    'Attempts to deliver an alert, by result.',
    () =>
      outbox
        .list()
        .flatMap(({ name, health }) =>
          Object.entries(health.outcomes).map(([result, count]) => [[name, result], count] as const),
        ),
    ['destination', 'result'],
  );
  gauge('signalbox_delivery_lag_alerts', 'Alerts that the destination has not finished with.', ({ lag }) => lag);
  gauge(
    'signalbox_delivery_parked_alerts',
    'Alerts that were given up.',
    ({ progress }) => progress.parked.size + progress.forgotten,
  );
  gauge(
    'signalbox_delivery_oldest_pending_seconds',
    'Age of the oldest alert that is under way or failing; 0 if none is.',
    ({ waitingSince }) => (waitingSince === undefined ? 0 : Math.max(0, clock().getTime() - waitingSince) / 1000),
  );
};
