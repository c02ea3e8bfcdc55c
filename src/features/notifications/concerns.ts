import type { Concern } from '../../kit/feature.ts';
import { Forwarder } from './forwarder/forwarder.ts';
import type { AnyDestination } from './open-destination.ts';
import { IncidentDestination } from './plan/incident-destination.ts';

/** Milliseconds after which an alert or notification that is still waiting is reported as a concern. */
const longWaitMs = 5 * 60_000;

/** Returns the concerns about deliveries, worst first. */
export const findDeliveryConcerns = (all: readonly AnyDestination[], now: Date): Concern[] => {
  const destinations = all.filter((one) => one instanceof Forwarder);
  const failing = all.filter(({ health }) => health.failing).length;
  const late = all.filter((one) => one instanceof IncidentDestination && isLate(one, now)).length;
  const waiting = destinations.reduce((sum, { queue }) => {
    let late = 0;
    for (const { receivedAt } of queue.waiting.list()) if (now.getTime() - receivedAt > longWaitMs) late += 1;
    return sum + late;
  }, 0);
  const parked = destinations.reduce((sum, { progress }) => sum + progress.givenUpCount, 0);
  const found: [count: number, severity: Concern['severity'], one: string, many: string][] = [
    [failing, 'ERROR', 'destination is failing', 'destinations are failing'],
    [
      waiting,
      'WARNING',
      'alert has been waiting for delivery for over 5 minutes',
      'alerts have been waiting for delivery for over 5 minutes',
    ],
    [
      late,
      'WARNING',
      'destination has notifications that are overdue by more than 5 minutes',
      'destinations have notifications that are overdue by more than 5 minutes',
    ],
    [parked, 'WARNING', 'alert was given up after failed deliveries', 'alerts were given up after failed deliveries'],
  ];
  const concerns = found
    .filter(([count]) => count > 0)
    .map(([count, severity, one, many]): Concern => {
      return { area: 'deliveries', severity, text: `${count} ${count === 1 ? one : many}` };
    });
  const isUnwritten = all.some((one) => one.isUnwritten);
  return isUnwritten
    ? [
        { area: 'log', severity: 'CRITICAL', text: 'The delivery progress of destinations cannot be stored' },
        ...concerns,
      ]
    : concerns;
};

const isLate = ({ waitingSince }: IncidentDestination, now: Date): boolean =>
  waitingSince !== undefined && now.getTime() - waitingSince > longWaitMs;
