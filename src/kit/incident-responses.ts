import Type, { type Static } from 'typebox';
import { notificationKinds } from './incident.ts';
import { severities } from './severity.ts';
import { defineShape, nullable } from './shape.ts';
import { Time } from './time.ts';

/** Form of sent and given-up notifications in responses. */
export const ShownNotification = defineShape('SentNotification', {
  at: Type.String({ ...Time, description: 'Time of delivery or of giving up.' }),
  destination: Type.String({ examples: ['pager'] }),
  incident: defineShape('NotifiedIncident', {
    id: Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'] }),
    number: Type.Integer({ examples: [412] }),
    title: Type.String({ examples: ['disk is full'] }),
  }),
  event: Type.Enum(['notified', 'escalated', 'reminder'], {
    type: 'string',
    description: '`escalated`: sent because nobody had acknowledged the incident after `after` minutes.',
  }),
  what: Type.Enum(notificationKinds, { type: 'string', examples: ['opened'] }),
  level: Type.Enum(severities, { type: 'string', examples: ['ERROR'] }),
  result: Type.String({ description: '`delivered`, or the reason for giving up.', examples: ['delivered'] }),
});

/** Next notification of an incident to a destination. */
export const NextNotification = defineShape('NextNotification', {
  what: Type.Enum(notificationKinds, { type: 'string', examples: ['reminder'] }),
  dueAt: nullable(Time, 'Earliest time of the notification; `null` if unknown.'),
  waitsFor: Type.Enum(['grouping', 'after', 'repeat', 'hours', 'offDuty', 'silence', 'cause', 'receiver'], {
    type: 'string',
    description:
      'Reason for the delay: collecting more incidents for one message; `after`, `repeat` or `hours` of the destination; its next shift; a silence; the `cause`, or the check of a possible cause; or a receiver that does not accept messages.',
  }),
  attempts: Type.Integer({ description: 'Number of failed attempts.', examples: [0] }),
  error: nullable(Type.String({ examples: ['the connection was refused'] }), 'Reason why the last attempt failed.'),
});

const LastNotification = defineShape('LastNotification', {
  what: Type.Enum(notificationKinds, { type: 'string', examples: ['opened'] }),
  level: Type.Enum(severities, { type: 'string', examples: ['ERROR'] }),
  at: Time,
});

/** Last and next notification of an incident to a destination. */
export const IncidentNotification = defineShape('IncidentNotification', {
  destination: Type.String({ description: 'Name of the destination.', examples: ['pager'] }),
  last: nullable(
    LastNotification,
    'Last notification; `null` if there was none, or if the resolution was already sent.',
  ),
  next: nullable(
    NextNotification,
    'Next notification if the incident does not change first; `null` if none is planned.',
  ),
});

export type IncidentNotification = Static<typeof IncidentNotification>;

/** Position of an incident in its escalation policy, and the next step. */
export const IncidentEscalation = defineShape('IncidentEscalation', {
  policy: Type.String({ description: 'Name of the escalation policy.', examples: ['ops'] }),
  step: Type.Integer({ description: 'Number of the latest step; 0 before the first step.', examples: [1] }),
  steps: Type.Integer({ description: 'Number of steps of the policy.', examples: [2] }),
  round: Type.Integer({ description: 'Number of the round, starting at 1.', examples: [1] }),
  rounds: Type.Integer({ description: 'Number of rounds.', examples: [4] }),
  since: nullable(Time, 'Time at which the step began.'),
  next: nullable(
    defineShape('NextEscalationStep', {
      policy: Type.String({ examples: ['ops'] }),
      step: Type.Integer({ examples: [2] }),
      round: Type.Integer({ examples: [1] }),
      dueAt: nullable(Time, 'Time of the step; `null` while a silence or the cause suspends the step.'),
      targets: Type.Array(Type.String({ examples: ['person:ben'] }), {
        description: 'People and destinations on call at that time: `person:NAME` or `destination:NAME`.',
      }),
    }),
    'Next step if the incident does not change first; `null` if no step follows.',
  ),
});

export type IncidentEscalation = Static<typeof IncidentEscalation>;
