import type { CheckId, CheckReading } from '../../kit/availability.ts';
import type { LogRecord } from '../../storage/journal/line.ts';
import type { HistorySnapshot } from './history.ts';

/** Event in the availability log. Times are Unix milliseconds. */
export type AvailabilityEvent =
  /** The state of a check changed at a place. */
  | ({ type: 'state'; check: CheckId; incident?: number } & CheckReading)
  /** Maintenance according to silences started or ended. */
  | { type: 'maintenance'; check: CheckId; createdAt: number; isOn: boolean; at: number }
  /** The current outage was linked to this incident. */
  | { type: 'incident'; check: CheckId; incident: number; at: number }
  /** The checks at these places are being observed. */
  | { type: 'alive'; places: readonly string[]; at: number }
  /** The checks at a place were not observed between two times. */
  | { type: 'gap'; place: string; from: number; at: number }
  /** The clock was set back to this time. */
  | { type: 'clock'; at: number }
  /** The check was deleted. */
  | { type: 'deleted'; check: CheckId; at: number }
  /** The history of a deleted check is no longer needed. */
  | { type: 'forgotten'; check: CheckId; at: number }
  /** History from another store. */
  | { type: 'imported'; history: HistorySnapshot; at: number };

const knownTypes: readonly unknown[] = [
  'state',
  'maintenance',
  'incident',
  'alive',
  'gap',
  'clock',
  'deleted',
  'forgotten',
  'imported',
] satisfies AvailabilityEvent['type'][];

/** Returns the event in a record. Undefined for a type unknown to this version. */
export const parseAvailabilityEvent = (record: LogRecord): AvailabilityEvent | undefined =>
  knownTypes.includes(record['type']) && Number(record['at']) >= 0
    ? (record as unknown as AvailabilityEvent)
    : undefined;
