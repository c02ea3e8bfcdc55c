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
        .flatMap(({ name, receiver }) =>
          Object.entries(receiver.outcomes).map(([result, count]) => [[name, result], count] as const),
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
    'signalbox_destination_failing',
    'Whether the receiver refuses the destination or cannot be reached: 1 or 0.',
    ({ receiver }) => (receiver.failing ? 1 : 0),
  );
  gauge(
    'signalbox_delivery_oldest_pending_seconds',
    'Age of the oldest alert that waits; 0 if none does.',
    ({ waitingSince }) => (waitingSince === undefined ? 0 : Math.max(0, clock().getTime() - waitingSince) / 1000),
  );
};
