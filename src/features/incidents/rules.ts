import type { Severity } from '../../kit/severity.ts';
import type { StoredIncident } from './incident.ts';

/** Settings that determine how alerts and the passage of time change incidents. */
export interface Rules {
  /** Lowest severity that opens an incident. */
  level: Severity;
  /** Milliseconds after a resolution during which a new alert reopens the incident instead of opening another. */
  reopenMs: number;
  /** Milliseconds without alerts after which an incident is resolved. 0 for never. */
  quietMs: number;
  /** Milliseconds for which a resolved incident is stored. 0 keeps it forever. */
  retainMs: number;
}

/**
 * Returns the time in Unix milliseconds at which an incident changes without an action: its acknowledgement expires, or
 * it is resolved because no alerts are received. Infinity if neither applies.
 */
export const dueAt = (incident: StoredIncident, { quietMs }: Rules): number => {
  const { state, acknowledged, endsBySender } = incident;
  if (state === 'resolved') return Number.POSITIVE_INFINITY;
  const snoozeEnd = (state === 'acknowledged' && acknowledged?.until) || Number.POSITIVE_INFINITY;
  return quietMs === 0 || endsBySender ? snoozeEnd : Math.min(snoozeEnd, lastActiveAt(incident) + quietMs);
};

/** Returns the time of the last alert or reopening of an unresolved incident. */
const lastActiveAt = ({ lastAt, openedAt }: StoredIncident): number => Math.max(lastAt, openedAt);
