import { createAddressChoice, createAddressFilter } from '../list-address.ts';
import { place } from '../router.ts';

export const alertFilter = createAddressFilter([
  ...(['severity', 'level', 'source', 'hostname', 'status', 'q', 'since', 'until'] as const),
  'before',
]);

/** Reads the seq before which the list begins. Undefined if the list begins with the newest alert. */
export const readStart = (): number | undefined => Number(place.value.params['before']) || undefined;

/** Reads the severity filter. In URLs from earlier versions, a level takes its place. */
export const readSeverity = (): string | undefined => {
  const { severity, level } = place.value.params;
  return severity ?? level?.toUpperCase();
};

/** Time windows of the histogram, by `range` parameter. */
export const windows = {
  '1h': { hours: 1, buckets: 60 },
  '24h': { hours: 24, buckets: 96 },
  '7d': { hours: 168, buckets: 84 },
};
export type WindowName = keyof typeof windows;

export const windowChoice = createAddressChoice('range', Object.keys(windows) as WindowName[], '24h');

/** True if repeats are folded, as they are by default. Alerts that differ only in time are then shown as one alert. */
export const isFolding = (): boolean => place.value.params['fold'] !== 'off';
