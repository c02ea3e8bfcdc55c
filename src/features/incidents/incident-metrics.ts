import type { Meters } from '../../metrics/meters.ts';
import type { Measured } from './draft.ts';
import type { IncidentStore } from './store.ts';

/** Upper bounds in seconds, from one minute to one week. */
const bounds = [60, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400, 259_200, 604_800];

/** Creates a function that adds this instance's measurements to the metrics. */
export const createObserver = (meters: Meters): ((measured: Measured) => void) => {
  const count = (name: string, help: string) => meters.counter(name, help, []).at();
  const observe = (name: string, help: string) => meters.histogram(name, help, [], bounds).at();
  const opened = count('signalbox_incidents_opened_total', 'Incidents opened.');
  const overflowed = count(
    'signalbox_incidents_overflow_alerts_total',
    'Alerts collected in one incident because too many incidents are open.',
  );
  const acknowledged = observe(
    'signalbox_incidents_time_to_acknowledge_seconds',
    'Time from the opening of incidents to their acknowledgement.',
  );
  const resolved = observe(
    'signalbox_incidents_time_to_resolve_seconds',
    'Time from the opening (or last reopening) of an incident to its resolution.',
  );
  return (measured) => {
    opened.value += measured.opened;
    overflowed.value += measured.overflowed;
    for (const ms of measured.toAcknowledge) acknowledged.observe(ms / 1000);
    for (const ms of measured.toResolve) resolved.observe(ms / 1000);
  };
};

/** Adds a gauge that counts incidents each time metrics are scraped. */
export const addIncidentGauge = ({ reading }: Meters, store: IncidentStore): void =>
  reading(
    'gauge',
    'signalbox_incidents',
    'Incidents by state and level.',
    () => store.count().map(({ state, level, count }) => [[state, level], count]),
    ['state', 'level'],
  );
