import Type, { type Static } from 'typebox';
import { defineList, defineShape, orNull, Time } from '../../kit/route.ts';
import { severities } from '../../kit/severity.ts';
import { HeartbeatDefinition } from './definition.ts';

export const heartbeatStates = ['new', 'up', 'running', 'late', 'down', 'paused'] as const;

const { period, schedule, timeZone, grace, maxRunMinutes } = HeartbeatDefinition.properties;

export const HeartbeatRunShape = defineShape('HeartbeatRun', {
  startedAt: orNull(Time, 'When its start was received.'),
  endedAt: orNull(Time, 'When its end was received.'),
  durationMs: orNull(Type.Integer({ examples: [251_000] }), 'From its start to its end.'),
  result: Type.Enum(['running', 'success', 'failure', 'unfinished', 'log'], {
    type: 'string',
    description: '`unfinished`: its end is no longer expected. `log`: only a text.',
    examples: ['success'],
  }),
  exitCode: orNull(Type.Integer({ examples: [0] }), 'As it was sent.'),
  rid: orNull(Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-4b5e-a1f0-3d0a7d6e2c56'] }), 'Its own id.'),
  output: orNull(Type.String({ examples: ['412 files'] }), 'The end of its output, if it is kept.'),
});
export type HeartbeatRunShape = Static<typeof HeartbeatRunShape>;

const { result, durationMs } = HeartbeatRunShape.properties;

const RecentRun = defineShape('RecentRun', {
  at: Type.String({ ...Time, description: 'When its end was received, or its start if it has not ended.' }),
  durationMs,
  result,
});
export type RecentRun = Static<typeof RecentRun>;

export const Heartbeat = defineShape('Heartbeat', {
  name: Type.String({ examples: ['backup'] }),
  state: Type.Enum(heartbeatStates, {
    type: 'string',
    description: '`new`: nothing was received yet. `late`: within its grace.',
    examples: ['up'],
  }),
  dueAt: orNull(Time, 'When the next one is due.'),
  lastPingAt: orNull(Time, 'When something was received last.'),
  lastSuccessAt: orNull(Time, 'When a success was received last.'),
  downAt: orNull(Time, 'Since when it is down.'),
  downReason: orNull(
    Type.Enum(['failed', 'late', 'long'], { type: 'string', examples: ['late'] }),
    'Why it is down; `long`: it runs for longer than it may.',
  ),
  lastRun: orNull(HeartbeatRunShape, 'Its last run.'),
  recentRuns: Type.Optional(Type.Array(RecentRun, { description: 'Only in lists with `runs`: oldest first.' })),
  uuid: orNull(
    Type.String({ format: 'uuid', examples: ['6a1f3a0e-52d4-4be0-9d2e-0d5b5a1f7c11'] }),
    'Its secret address, which only an Admin sees.',
  ),
  period: orNull(period, 'Seconds from one to the next.'),
  schedule: orNull(schedule, 'When one is expected.'),
  timeZone: orNull(timeZone, 'Of the schedule.'),
  grace: orNull(grace, 'Seconds that one may be late, if that was set.'),
  maxRunMinutes: orNull(maxRunMinutes, 'How long a run may take.'),
  level: Type.Enum(severities, { type: 'string', description: 'Of its alert.', examples: ['ERROR'] }),
  description: Type.String({ examples: ['nightly'] }),
  tags: Type.Array(Type.String({ examples: ['db'] }), { description: 'Words that its alert has as a label.' }),
  open: Type.Boolean({ description: 'Anyone may see its badge.', examples: [false] }),
  pausedBy: orNull(Type.String({ examples: ['admin'] }), 'Who has paused it.'),
  pausedAt: orNull(Time, 'When it was paused.'),
  isConfigured: Type.Boolean({ description: 'It is in the config file, so it cannot be changed.', examples: [false] }),
  updatedBy: orNull(Type.String({ examples: ['admin'] }), 'Who changed its definition last.'),
  updatedAt: orNull(Time, 'When that was.'),
  version: Type.Integer({
    description: 'Of its definition, as the `ETag` has it; 0 in the config file.',
    examples: [12],
  }),
});
export type Heartbeat = Static<typeof Heartbeat>;

export const HeartbeatList = defineList('HeartbeatList', 'Heartbeats', Heartbeat, 'By name.');

export const HeartbeatRunList = defineList(
  'HeartbeatRunList',
  'Runs',
  HeartbeatRunShape,
  'Newest first; at most 100 are kept.',
);

export const HeartbeatParams = Type.Object({
  name: Type.String({ description: 'Name of a heartbeat.', examples: ['backup'] }),
});

export const HeartbeatQuery = Type.Object({
  runs: Type.Integer({ minimum: 0, maximum: 100, default: 0, description: 'So many of the last runs of each.' }),
});

export const RunQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 100, description: 'Maximum number of runs to return.' }),
});

export const PingQuery = Type.Object({
  rid: Type.Optional(Type.String({ description: 'A UUID of the run, which tells overlapping ones apart.' })),
  create: Type.Optional(
    Type.Enum(['0', '1'], { type: 'string', description: '`1` creates an unknown name, expected once a day.' }),
  ),
});

const address = Type.String({
  description: 'The UUID of a heartbeat, which is secret; or its name, with a token or a key.',
  examples: ['6a1f3a0e-52d4-4be0-9d2e-0d5b5a1f7c11'],
});

export const PingParams = Type.Object({ address });

export const SignalParams = Type.Object({
  address,
  signal: Type.String({
    description: '`start`, `fail`, `log`, or an exit code of 32 bits; 0 is success.',
    examples: ['start'],
  }),
});

/** Clients in general send JSON; jobs send anything. */
export const PingBody = Type.Object({}, { description: 'Anything, such as the end of the output.', examples: [{}] });
