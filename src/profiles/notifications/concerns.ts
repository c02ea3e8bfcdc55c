import type { Meters } from '../../metrics/meters.ts';
import type { FeatureInstance } from '../feature.ts';
import type { Destination } from './destination.ts';

/** An alert that waits for longer needs somebody's attention. */
const longWaitMs = 5 * 60_000;

type Concerns = ReturnType<NonNullable<FeatureInstance['findConcerns']>>;

/** What needs attention at the destinations, the worst first. */
export const findDeliveryConcerns = (destinations: readonly Destination[], now: Date): Concerns => {
  const failing = destinations.filter(({ receiver }) => receiver.failing).length;
  const waiting = destinations.reduce((sum, { waiting: alerts }) => {
    let late = 0;
    for (const { receivedAt } of alerts.list()) if (now.getTime() - receivedAt > longWaitMs) late += 1;
    return sum + late;
  }, 0);
  const parked = destinations.reduce((sum, { progress }) => sum + progress.parked.size + progress.forgotten, 0);
  const found: [count: number, severity: Concerns[number]['severity'], one: string, many: string][] = [
    [failing, 'ERROR', 'destination is failing', 'destinations are failing'],
    [
      waiting,
      'WARNING',
      'alert has waited for its delivery for over 5 minutes',
      'alerts have waited for their delivery for over 5 minutes',
    ],
    [parked, 'WARNING', 'alert was not delivered and is parked', 'alerts were not delivered and are parked'],
  ];
  return found
    .filter(([count]) => count > 0)
    .map(([count, severity, one, many]) => ({
      ...{ area: 'deliveries', severity },
      text: `${count} ${count === 1 ? one : many}`,
    }));
};

/** Measures each destination when metrics are scraped. */
export const addDeliveryMeters = ({ reading }: Meters, list: () => readonly Destination[], clock: () => Date): void => {
  const gauge = (name: string, help: string, read: (destination: Destination) => number): void =>
    reading('gauge', name, help, () => list().map((each) => [[each.name], read(each)] as const), ['destination']);
  reading(
    'counter',
    'signalbox_deliveries_total',
    'Attempts to deliver an alert, by result.',
    () =>
      list().flatMap(({ name, receiver }) =>
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
