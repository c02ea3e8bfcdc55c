import Type from 'typebox';
import { createSchemaCheck } from '../../lib/schema-validation.ts';
import type { Counters } from './draft.ts';
import { type StoredEvent, StoredIncident } from './incident.ts';
import type { Rules } from './rules.ts';

/** Incident in a snapshot, with its timeline. */
export interface IncidentEntry {
  incident: StoredIncident;
  events: readonly StoredEvent[];
}

/**
 * Entry in a snapshot. The first entry has the counters. All other entries are incidents in the order of their changes.
 */
export type SnapshotEntry = { counters: Counters; rules: Rules } | IncidentEntry;

/** Number of entries written together. */
const pieceLength = 100;

/** Yields the entries of a snapshot in pieces. */
export function* toEntryPieces(
  counters: Counters,
  rules: Rules,
  incidents: IncidentEntry[],
): Generator<readonly SnapshotEntry[]> {
  yield [{ counters, rules }];
  for (let at = 0; at < incidents.length; at += pieceLength) yield incidents.slice(at, at + pieceLength);
}

/** Checks the members that every version stores. */
const checkEntry = createSchemaCheck(
  Type.Object({
    incident: Type.Pick(StoredIncident, ['id', 'number', 'key', 'state', 'change', 'spans']),
    events: Type.Array(Type.Unknown()),
  }),
);

/** True for an undamaged incident entry. */
export const isIncidentEntry = (entry: SnapshotEntry): entry is IncidentEntry =>
  checkEntry(entry) &&
  'incident' in entry &&
  [entry.incident.number, entry.incident.change].every(Number.isSafeInteger);

/** Adds the members that versions without notifications or pictures did not store. */
export const completeIncident = (stored: StoredIncident): StoredIncident => {
  if (stored.snapshot !== undefined) return stored;
  if (stored.lastEvent !== undefined) return { ...stored, snapshot: null };
  return {
    ...stored,
    openings: stored.reopened + 1,
    raisedAt: null,
    notices: {},
    silenced: null,
    snapshot: null,
    lastEvent: stored.version,
  };
};
