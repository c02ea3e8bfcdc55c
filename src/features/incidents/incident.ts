import Type, { type Static } from 'typebox';
import { SharedIncident } from '../../kit/incident.ts';
import { nullable } from '../../kit/route.ts';
import { AlertSpans } from './alert-spans.ts';
import type { IncidentEvent } from './schema.ts';

/** Maximum timeline events of an incident; older ones are forgotten. */
export const mostEvents = 200;

/** Incident as stored. */
export const StoredIncident = Type.Object({
  ...SharedIncident.properties,
  /** Key of its alerts. Of all incidents with a key, only the last can be unresolved. */
  key: Type.String(),
  /** Content of the key; `overflow` for the incident of all alerts beyond the limit. */
  trait: Type.Enum(['fingerprint', 'texts', 'overflow']),
  /** The sender sends resolutions, so the incident is not resolved because alerts stop. */
  endsBySender: Type.Boolean(),
  /** Number of the last timeline event. */
  lastEvent: Type.Integer(),
  spans: AlertSpans,
  /** Id of the latest firing alert; missing in incidents of versions before 1.2. */
  firingAlert: Type.Optional(Type.String()),
  /** Id of the previous incident with the key. */
  previous: nullable(Type.String()),
});
export type StoredIncident = Static<typeof StoredIncident>;

/** Timeline event as stored: members that are null in responses are missing, and times are Unix milliseconds. */
export type StoredEvent = Partial<Omit<IncidentEvent, 'at' | 'type' | 'until'>> & {
  at: number;
  type: IncidentEvent['type'];
  until?: number;
  /** `change` of the incident after a notification. */
  change?: number;
};
