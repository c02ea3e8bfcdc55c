import type { FeatureInstance } from '../../feature.ts';
import type { Destination } from './delivery/destination.ts';

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
