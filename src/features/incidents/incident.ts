import Type, { type Static } from 'typebox';
import { SharedIncident } from '../../kit/incident.ts';
import { nullable } from '../../kit/shape.ts';
import { Milliseconds } from '../../kit/time.ts';
import { AlertSpans } from './alert-spans.ts';
import { IncidentEvent } from './schema.ts';

/** Maximum number of timeline events per incident. Older events are forgotten. */
export const mostEvents = 200;

/** Stored form of an incident. */
export const StoredIncident = Type.Object({
  ...SharedIncident.properties,
  /** Key of the incident's alerts. Only the latest incident with a key can be unresolved. */
  key: Type.String(),
  /** Basis of the key. `overflow` for the incident that counts all alerts beyond the limit. */
  trait: Type.Enum(['fingerprint', 'texts', 'overflow']),
  /** True if the sender sends resolutions. Such an incident is not resolved merely because its alerts stop. */
  endsBySender: Type.Boolean(),
  /** Number of the latest timeline event. */
  lastEvent: Type.Integer(),
  spans: AlertSpans,
  /** Id of the latest firing alert. Missing in incidents from versions before 1.2. */
  firingAlert: Type.Optional(Type.String()),
  /** Id of the previous incident with the same key. */
  previous: nullable(Type.String()),
});
export type StoredIncident = Static<typeof StoredIncident>;

const { at: _, type, until: __, ...facts } = IncidentEvent.properties;

/** Stored form of a timeline event. Members that are null in responses are omitted. Times are Unix milliseconds. */
export const StoredEvent = Type.Object({
  at: Milliseconds,
  type,
  ...Type.Partial(Type.Object({ ...facts, until: Milliseconds })).properties,
  /** Value that `change` had in the incident after the notification. */
  change: Type.Optional(Type.Integer()),
});
export type StoredEvent = Static<typeof StoredEvent>;
