import type { IncidentHappening, MessagedIncident } from '../../src/profiles/notifications/message.ts';

/** When the incidents of tests were opened, in Unix milliseconds. */
export const openedAt = Date.parse('2026-01-31T08:30:00Z');

/** A critical incident that is open, with changes. */
export const createIncident = (changes: Partial<MessagedIncident> = {}): MessagedIncident => ({
  ...{ id: '019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55', number: 412, state: 'open' },
  ...{ level: 'CRITICAL', highestLevel: 'CRITICAL', title: 'disk full', source: 'backup', hostname: 'db-1' },
  ...{ labels: null, link: null, count: 3 },
  firstAt: new Date(openedAt).toISOString(),
  stateSince: new Date(openedAt).toISOString(),
  ...{ acknowledgedBy: null, acknowledgedUntil: null, acknowledgedComment: null },
  ...{ resolvedBy: null, resolvedReason: null, reopened: 0 },
  ...changes,
});

/** Something that happened to such an incident; it was opened unless `changes` say otherwise. */
export const createHappening = (
  incident: Partial<MessagedIncident> = {},
  changes: Partial<Omit<IncidentHappening, 'incident'>> = {},
): IncidentHappening => ({ what: 'opened', at: openedAt, incident: createIncident(incident), ...changes });

const minute = 60_000;

/** Its end, 42 minutes later. */
export const createResolution = (incident: Partial<MessagedIncident> = {}): IncidentHappening => {
  const at = openedAt + 42 * minute;
  const stateSince = new Date(at).toISOString();
  const resolved = { state: 'resolved', stateSince, resolvedBy: 'anna', resolvedReason: 'person' } as const;
  return createHappening({ ...resolved, ...incident }, { what: 'resolved', at });
};
