import type { Concern } from '../../feature.ts';
import type { FiringAlerts } from './firing-alerts.ts';

/** What of the alerts needs somebody's attention now, the worst first; warnings and less do not. */
export const findAlertConcerns = (firing: FiringAlerts): Concern[] =>
  (['CRITICAL', 'ERROR'] as const).flatMap((severity) => {
    const alerts = (count: number): string => `${count} ${severity.toLowerCase()} alert${count === 1 ? '' : 's'}`;
    const [fires, events] = [firing.countFiring(severity), firing.countEvents(severity)];
    const texts = [
      ...(fires > 0 ? [`${alerts(fires)} ${fires === 1 ? 'is' : 'are'} firing`] : []),
      ...(events > 0 ? [`${alerts(events)} in the last hour`] : []),
    ];
    return texts.map((text): Concern => ({ area: 'alerts', severity, text }));
  });
