import Type, { type Static, type TSchema } from 'typebox';
import { heartbeatStates } from '../../kit/heartbeat-states.ts';
import { settingFacts } from '../../kit/setting-kind.ts';
import { defineList, defineShape, orNull } from '../../kit/shape.ts';
import { Time } from '../../kit/time.ts';
import { definitionFields } from './definition.ts';

/** Maximum number of runs kept per heartbeat, and maximum length in characters of their outputs. */
export const maxRuns = 100;
export const maxOutputLength = 64 * 1024;

export const HeartbeatRun = defineShape('HeartbeatRun', {
  startedAt: orNull(Time, 'Time at which the start was received.'),
  endedAt: orNull(Time, 'Time at which the end was received.'),
  durationMs: orNull(Type.Integer({ examples: [251_000] }), 'Milliseconds from the start to the end.'),
  result: Type.Enum(['running', 'success', 'failure', 'unfinished', 'log'], {
    type: 'string',
    description: '`unfinished`: the end is no longer expected. `log`: a text outside any run.',
    examples: ['success'],
  }),
  exitCode: orNull(Type.Integer({ examples: [0] }), 'Exit code of the ping.'),
  rid: orNull(Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-4b5e-a1f0-3d0a7d6e2c56'] }), 'Id of the run.'),
  output: orNull(Type.String({ examples: ['412 files'] }), 'End of the output.'),
});
export type HeartbeatRun = Static<typeof HeartbeatRun>;

const { result, durationMs } = HeartbeatRun.properties;

const RecentRun = defineShape('RecentRun', {
  at: Type.String({ ...Time, description: 'Time at which the end was received; the start of an unfinished run.' }),
  durationMs,
  result,
});
export type RecentRun = Static<typeof RecentRun>;

/** Creates the response schema of a definition's field, including the description of the field. */
const definedOrNull = <T extends TSchema>(field: T) =>
  orNull(field, String((field as { description?: string }).description));

const { period, schedule, timeZone, grace, maxRunMinutes, level, description, tags, dependsOn, open } =
  definitionFields;

export const Heartbeat = defineShape('Heartbeat', {
  name: Type.String({ examples: ['backup'] }),
  state: Type.Enum(heartbeatStates, {
    type: 'string',
    description: '`new`: before the first ping. `late`: overdue, but within the grace period.',
    examples: ['up'],
  }),
  dueAt: orNull(Time, 'Due time of the next ping.'),
  lastPingAt: orNull(Time, 'Time of the last ping.'),
  lastSuccessAt: orNull(Time, 'Time of the last success.'),
  downAt: orNull(Time, 'Time at which the heartbeat went down.'),
  downReason: orNull(
    Type.Enum(['failed', 'late', 'long'], { type: 'string', examples: ['late'] }),
    'Reason why the heartbeat is down; `long`: a run exceeds `maxRunMinutes`.',
  ),
  lastRun: orNull(HeartbeatRun, 'Last run.'),
  recentRuns: Type.Optional(
    Type.Array(RecentRun, { description: 'Last runs, oldest first; only in lists with `runs`.' }),
  ),
  uuid: orNull(
    Type.String({ format: 'uuid', examples: ['6a1f3a0e-52d4-4be0-9d2e-0d5b5a1f7c11'] }),
    'Secret address, for Admins only.',
  ),
  period: definedOrNull(period),
  schedule: definedOrNull(schedule),
  timeZone: definedOrNull(timeZone),
  grace: definedOrNull(grace),
  maxRunMinutes: definedOrNull(maxRunMinutes),
  level,
  description,
  tags,
  dependsOn,
  open,
  pausedBy: orNull(Type.String({ examples: ['admin'] }), 'Author of the pause.'),
  pausedAt: orNull(Time, 'Time of the pause.'),
  resumedAt: orNull(Time, 'Time of the last resumption.'),
  isConfigured: Type.Boolean({
    description: 'True if the heartbeat is defined in the config file; edit it there.',
    examples: [false],
  }),
  updatedBy: settingFacts.updatedBy,
  updatedAt: settingFacts.updatedAt,
  version: Type.Integer({
    description: 'Version of the definition, also in the `ETag`; 0 in the config file.',
    examples: [12],
  }),
});
export type Heartbeat = Static<typeof Heartbeat>;

export const HeartbeatList = defineList('HeartbeatList', 'Heartbeats', Heartbeat, 'Sorted by name.');

export const HeartbeatRunList = defineList(
  'HeartbeatRunList',
  'Runs',
  HeartbeatRun,
  'Newest first; at most 100 are kept.',
);

export const HeartbeatParams = Type.Object({
  name: Type.String({ description: 'Name of a heartbeat.', examples: ['backup'] }),
});

export const HeartbeatQuery = Type.Object({
  runs: Type.Integer({
    minimum: 0,
    maximum: 100,
    default: 0,
    description: 'Number of latest runs of each heartbeat in `recentRuns`.',
  }),
});

export const RunQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 100, description: 'Maximum number of runs to return.' }),
});

export const PingQuery = Type.Object({
  rid: Type.Optional(Type.String({ description: 'UUID of the run, to distinguish overlapping runs.' })),
  create: Type.Optional(
    Type.Enum(['0', '1'], {
      type: 'string',
      description: '`1` creates a heartbeat that is expected once a day, if the name is unknown.',
    }),
  ),
});

const address = Type.String({
  description: 'Secret UUID of a heartbeat, or its name together with a token or key.',
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

/** Body of a ping. Jobs send any text, while other clients usually send JSON. */
export const PingBody = Type.Object({}, { description: 'Any text, such as the end of the output.', examples: [{}] });
