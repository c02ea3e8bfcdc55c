import Type, { type Static } from 'typebox';
import { severities } from './severity.ts';
import { nullable, orNull } from './shape.ts';
import { Milliseconds, Time, toTimeOrNull, toTimeText } from './time.ts';

export const incidentStates = ['open', 'acknowledged', 'resolved'] as const;
export type IncidentState = (typeof incidentStates)[number];

/** Reasons for a resolution: the sender or a person resolved the incident, or its alerts stopped. */
export const resolutionReasons = ['sender', 'person', 'quiet'] as const;

/** Incident events that trigger notifications. Used in the settings of destinations. */
export const notificationEvents = ['opened', 'raised', 'resolved', 'reminder', 'acknowledged'] as const;
export type NotificationEvent = (typeof notificationEvents)[number];

/** Kinds of notifications. `addressed`: a person asks somebody to look at the incident. */
export const notificationKinds = [...notificationEvents, 'addressed'] as const;
export type NotificationKind = (typeof notificationKinds)[number];

/** Reasons why an incident addresses a target: a step of its escalation policy, or a request by a person. */
export const addressReasons = ['step', 'responder', 'takeOver', 'mention'] as const;
export type AddressReason = (typeof addressReasons)[number];

const text = (example: string, description: string) => Type.String({ description, examples: [example] });

/** Creates the schema of a string or null. */
export const textOrNull = (example: string, description: string) =>
  orNull(Type.String({ examples: [example] }), description);

const severity = (example: string, description: string) =>
  Type.Enum(severities, { type: 'string', examples: [example], description });

/** Last notification of an incident to a destination: delivered, or permanently refused. */
const NotificationState = Type.Object({
  what: Type.Enum(notificationKinds),
  level: Type.Enum(severities),
  at: Milliseconds,
  /** Value that `openings` had in the incident when the notification was sent. */
  opening: Type.Integer(),
  /** True if the destination has ever been notified of the incident. */
  isTold: Type.Boolean(),
  /** Set while the first notification is being sent. After a kill -9, its delivery is uncertain. */
  isPending: Type.Optional(Type.Literal(true)),
  /**
   * Value that `times` had in the address event when the notification was sent. Missing if the destination was not
   * addressed.
   */
  times: Type.Optional(Type.Integer()),
});
export type NotificationState = Static<typeof NotificationState>;

/** Latest request to notify a target. Requests from earlier openings have no effect. */
const Address = Type.Object({
  /** Times of the first and the latest request in this opening. */
  firstAt: Milliseconds,
  at: Milliseconds,
  /** Number of requests in this opening. */
  times: Type.Integer(),
  opening: Type.Integer(),
  reason: Type.Enum(addressReasons),
  by: Type.String(),
});
export type Address = Static<typeof Address>;

/** Position in an escalation policy. `step` and `round` start at 0. Step 0 precedes the first step. */
const EscalationPlace = Type.Object({
  /** Name of the policy. Null if the routing has no policy for the incident. */
  policy: nullable(Type.String()),
  round: Type.Integer(),
  step: Type.Integer(),
});
export type EscalationPlace = Static<typeof EscalationPlace>;

const Escalation = Type.Object({
  ...EscalationPlace.properties,
  /** Time at which the step began. */
  at: Milliseconds,
  opening: Type.Integer(),
});
export type Escalation = Static<typeof Escalation>;

/** Incident that keeps another incident from notifying anybody. */
export const IncidentCause = Type.Object(
  {
    id: Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c57'] }),
    number: Type.Integer({ examples: [411] }),
    name: Type.String({ description: 'Watch, heartbeat or host, or title of the incident.', examples: ['router'] }),
  },
  { title: 'IncidentCause' },
);
export type IncidentCause = Static<typeof IncidentCause>;

/**
 * Incident as shared by stores and other features. Times are Unix milliseconds. All other forms of an incident are
 * derived from these properties. Incidents are immutable: a change creates a new object.
 */
export const SharedIncident = Type.Object({
  id: Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'] }),
  number: Type.Integer({ description: 'Short number for people; accepted as `{id}`.', examples: [412] }),
  about: text(
    'backup/web-1',
    'Identity of the alerts: their key, their fingerprint, or their source, host name and message.',
  ),
  state: Type.Enum(incidentStates, { type: 'string' }),
  level: severity('ERROR', 'Current severity.'),
  highestLevel: severity('CRITICAL', 'Highest severity so far.'),
  title: text('disk is full', 'Message of the latest firing alert, without the job output that follows the message.'),
  source: text('backup', 'Source of the latest firing alert with a source.'),
  hostname: text('web-1', 'Host name of the latest firing alert with a host name.'),
  sender: textOrNull('key:alertmanager', 'Sender of the alerts: `key:NAME` or `user:NAME`.'),
  labels: orNull(
    Type.Record(Type.String(), Type.String({ examples: ['db'] })),
    'Labels of the latest firing alert with labels.',
  ),
  link: textOrNull('https://grafana.example.org/alerting', 'Link of the latest firing alert with a link.'),
  count: Type.Integer({ description: 'Number of alerts.', examples: [3] }),
  firstAt: Milliseconds,
  lastAt: Milliseconds,
  /** Time of the latest opening. */
  openedAt: Milliseconds,
  stateSince: Milliseconds,
  /** Number of openings: the first opening, each reopening, and each expiry of an acknowledgement. */
  openings: Type.Integer(),
  /** Time of the last rise in level since the latest opening. */
  raisedAt: nullable(Milliseconds),
  acknowledged: nullable(
    Type.Object({
      by: Type.String(),
      at: Milliseconds,
      until: nullable(Milliseconds),
      comment: nullable(Type.String()),
    }),
  ),
  resolved: nullable(
    Type.Object({ by: nullable(Type.String()), at: Milliseconds, reason: Type.Enum(resolutionReasons) }),
  ),
  reopened: Type.Integer({ description: 'Number of times the incident was reopened.', examples: [0] }),
  task: orNull(Type.Integer({ examples: [2] }), 'Id of the task that was created for the incident.'),
  /** Picture of the machine: when it was taken, and whether it still exists. */
  snapshot: nullable(Type.Object({ at: Milliseconds, isKept: Type.Boolean() })),
  /** Id of the latest alert. */
  lastAlert: Type.String(),
  /**
   * True if the incident was opened by an imported alert, or by an alert stored before incidents existed. Nobody is
   * notified of such an incident.
   */
  isOld: Type.Boolean(),
  /**
   * Last notification for each destination. After the resolution, only destinations that have not been notified of the
   * resolution remain.
   */
  notices: Type.Record(Type.String(), NotificationState),
  /** Latest requests by target, `person:NAME` or `destination:NAME`. Missing until the first request. */
  addressed: Type.Optional(Type.Record(Type.String(), Address)),
  /** Users who were asked to help. Missing if there are none. */
  responders: Type.Optional(Type.Array(Type.String())),
  /** Latest step of the escalation. Null after a rise in level, because a rise restarts the policy. */
  escalation: Type.Optional(nullable(Escalation)),
  /** Level and number of openings at the latest timeline event `silenced`. */
  silenced: nullable(Type.Object({ level: Type.Enum(severities), opening: Type.Integer() })),
  /** Latest cause, with the number of openings at its timeline event `inhibited`. Missing if there was none. */
  inhibited: Type.Optional(Type.Object({ cause: IncidentCause, opening: Type.Integer() })),
  version: Type.Integer({
    description: 'Version, also in the `ETag`. Repeated alerts and notifications keep the version.',
    examples: [1],
  }),
  /** Position in the order of changes across all incidents. */
  change: Type.Integer(),
});
export type SharedIncident = Static<typeof SharedIncident>;

const { properties: shared } = SharedIncident;
const time = (description: string) => Type.String({ ...Time, description });

/** Properties of an incident in responses and webhooks. */
export const incidentFacts = {
  id: shared.id,
  number: shared.number,
  key: shared.about,
  state: shared.state,
  level: shared.level,
  highestLevel: shared.highestLevel,
  title: shared.title,
  source: shared.source,
  hostname: shared.hostname,
  sender: shared.sender,
  labels: shared.labels,
  link: shared.link,
  count: shared.count,
  firstAt: time('Time at which the first alert was received.'),
  lastAt: time('Time at which the latest alert was received.'),
  stateSince: time('Time of the last change of `state`.'),
  acknowledgedBy: textOrNull('admin', 'Author of the acknowledgement: a user, `key:NAME`, or the sender of an alert.'),
  acknowledgedAt: orNull(Time, 'Time of the acknowledgement.'),
  acknowledgedUntil: orNull(Time, 'End of the acknowledgement.'),
  acknowledgedComment: textOrNull('on it', 'Comment of the acknowledgement.'),
  resolvedBy: textOrNull('admin', 'Author of the resolution: a person or the sender.'),
  resolvedAt: orNull(Time, 'Time of the resolution.'),
  resolvedReason: orNull(
    Type.Enum(resolutionReasons, { type: 'string', examples: ['person'] }),
    "Reason for the resolution; `quiet`: no alert was received for `quietHours`, or before the alert's `endsAt`.",
  ),
  reopened: shared.reopened,
  version: shared.version,
};

type IncidentFacts = Static<ReturnType<typeof Type.Object<typeof incidentFacts>>>;

/** Converts an incident to the form used in responses and webhooks. */
export const toIncidentFacts = ({ acknowledged, resolved, ...incident }: SharedIncident): IncidentFacts => ({
  id: incident.id,
  number: incident.number,
  key: incident.about,
  state: incident.state,
  level: incident.level,
  highestLevel: incident.highestLevel,
  title: incident.title,
  source: incident.source,
  hostname: incident.hostname,
  sender: incident.sender,
  labels: incident.labels,
  link: incident.link,
  count: incident.count,
  firstAt: toTimeText(incident.firstAt),
  lastAt: toTimeText(incident.lastAt),
  stateSince: toTimeText(incident.stateSince),
  acknowledgedBy: acknowledged?.by ?? null,
  acknowledgedAt: toTimeOrNull(acknowledged?.at),
  acknowledgedUntil: toTimeOrNull(acknowledged?.until),
  acknowledgedComment: acknowledged?.comment ?? null,
  resolvedBy: resolved?.by ?? null,
  resolvedAt: toTimeOrNull(resolved?.at),
  resolvedReason: resolved?.reason ?? null,
  reopened: incident.reopened,
  version: incident.version,
});
