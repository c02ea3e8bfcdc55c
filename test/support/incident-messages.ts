import type { IncidentUpdate } from '../../src/features/notifications/message/message.ts';
import type { SharedIncident } from '../../src/kit/incident.ts';

/** Time at which the incidents in the tests opened, in Unix milliseconds. */
export const openedAt = Date.parse('2026-01-31T08:30:00Z');

/** Creates a critical, open incident with changes. */
export const createIncident = (changes: Partial<SharedIncident> = {}): SharedIncident => ({
  id: '019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55',
  number: 412,
  about: 'backup · db-1 · disk full',
  sender: null,
  state: 'open',
  level: 'CRITICAL',
  highestLevel: 'CRITICAL',
  title: 'disk full',
  source: 'backup',
  hostname: 'db-1',
  labels: null,
  link: null,
  count: 3,
  firstAt: openedAt,
  lastAt: openedAt,
  openedAt,
  stateSince: openedAt,
  openings: 1,
  raisedAt: null,
  acknowledged: null,
  resolved: null,
  reopened: 0,
  task: null,
  snapshot: null,
  lastAlert: '019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c54',
  isOld: false,
  notices: {},
  silenced: null,
  version: 1,
  change: 1,
  ...changes,
});

/** Fields of an acknowledged incident. */
export const taken: Partial<SharedIncident> = {
  state: 'acknowledged',
  acknowledged: { by: 'anna', at: openedAt, until: null, comment: null },
};

/** Creates an update about an incident, by default the timeline event `opened`. */
export const createUpdate = (
  incident: Partial<SharedIncident> = {},
  changes: Partial<Omit<IncidentUpdate, 'incident'>> = {},
): IncidentUpdate => ({ what: 'opened', happenedAt: openedAt, incident: createIncident(incident), ...changes });

const minute = 60_000;

/** Creates the resolution of an incident, 42 minutes later. */
export const createResolution = (incident: Partial<SharedIncident> = {}): IncidentUpdate => {
  const at = openedAt + 42 * minute;
  const resolved = { by: 'anna', at, reason: 'person' } as const;
  return createUpdate(
    { state: 'resolved', stateSince: at, resolved, ...incident },
    { what: 'resolved', happenedAt: at },
  );
};
