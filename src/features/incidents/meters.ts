import type { Meters } from '../../metrics/meters.ts';
import type { Measured } from './fold.ts';
import type { IncidentStore } from './store.ts';

/** Upper bounds in seconds: a minute to a week. */
const bounds = [60, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400, 259_200, 604_800];

/** Measures what alerts and actions of this process have led to. */
export const createObserver = (meters: Meters): ((measured: Measured) => void) => {
  const opened = meters.counter('signalbox_incidents_opened_total', 'Incidents opened.', []).at();
  const overflowed = meters
    .counter(
      'signalbox_incidents_overflow_alerts_total',
      'Alerts counted in one incident because too many are open.',
      [],
    )
    .at();
  const acknowledged = meters
    .histogram(
      'signalbox_incidents_time_to_acknowledge_seconds',
      'How long incidents were open before somebody took them.',
      [],
      bounds,
    )
    .at();
  const resolved = meters
    .histogram(
      'signalbox_incidents_time_to_resolve_seconds',
      'How long incidents lasted, from the time that they were opened last.',
      [],
      bounds,
    )
    .at();
  return (measured) => {
    opened.value += measured.opened;
    overflowed.value += measured.overflowed;
    for (const ms of measured.toAcknowledge) acknowledged.observe(ms / 1000);
    for (const ms of measured.toResolve) resolved.observe(ms / 1000);
  };
};

/** Counts incidents when metrics are scraped. */
export const addIncidentMeters = ({ reading }: Meters, store: IncidentStore): void =>
  reading(
    'gauge',
    'signalbox_incidents',
    'Incidents by state and level.',
    () => store.count().map(({ state, level, count }) => [[state, level], count]),
    ['state', 'level'],
  );
