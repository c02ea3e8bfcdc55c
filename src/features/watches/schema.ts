import Type, { type Static } from 'typebox';
import { dependsOn } from '../../kit/dependencies.ts';
import { settingFacts } from '../../kit/setting-kind.ts';
import { severities } from '../../kit/severity.ts';
import { defineList, defineShape, nullable } from '../../kit/shape.ts';
import { Time } from '../../kit/time.ts';
import { ownWatchSettings, watchSecrets } from './type-settings.ts';

/** Pattern for names. They are parts of sources, fingerprints and paths. */
const namePattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';

const watchTypeNames = [
  'disk',
  'memory',
  'swap',
  'cpu',
  'load',
  'network',
  'pressure',
  'temperature',
  'process',
  'service',
  'file',
  'container',
  'plugin',
  'http',
  'tcp',
  'ping',
  'dns',
  'certificate',
  'domain',
  'grpc',
  'postgres',
  'mysql',
  'redis',
  'alert',
  'database',
  'journal',
  'destination',
  'checks',
] as const;

const figure = (description: string, examples: number[] = [90]) =>
  Type.Optional(Type.Number({ minimum: -1e15, maximum: 1e15, description, examples }));

/** Watch in the settings and in routes. Requirements of its type are checked later, with errors that name the watch. */
export const WatchSettings = defineShape('WatchSettings', {
  name: Type.String({
    pattern: namePattern,
    description: 'Up to 64 letters, digits, `.`, `_` and `-`.',
    examples: ['var'],
  }),
  type: Type.Enum(watchTypeNames, { type: 'string', description: 'Type of the watch.', examples: ['disk'] }),
  ...ownWatchSettings,
  limit: figure('Value that raises an alert, in the unit of the type.'),
  critical: figure('Second limit, which raises the alert to level CRITICAL.', [97]),
  level: Type.Optional(
    Type.Enum(severities, {
      type: 'string',
      description:
        'Level of the first limit; by default WARNING, and ERROR for a failing check of a server or container.',
      examples: ['WARNING'],
    }),
  ),
  for: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 604_800,
      description: 'Seconds for which the limit must be reached without interruption; 0 by default.',
      examples: [60],
    }),
  ),
  clear: figure('Value at which the alert is resolved; by default 2 percent better than the limit.', [85]),
  retries: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10,
      description: 'Additional checks, 2 seconds apart, before a failed check or a fault counts; 0 by default.',
      examples: [2],
    }),
  ),
  every: Type.Optional(
    Type.Number({
      minimum: 1,
      maximum: 86_400,
      description:
        'Seconds between two checks; by default 10 for readings of the machine and of signalbox, 30 for `process` and `service`, 21,600 for `domain`, and 60 for other types.',
      examples: [60],
    }),
  ),
  hosts: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100, examples: ['web-*'] }), {
      minItems: 1,
      maxItems: 100,
      description:
        'Names or tags of the hosts that run the watch instead of this server; `*` matches any text. Not for `file`.',
    }),
  ),
  from: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64, examples: ['hub'] }), {
      minItems: 1,
      maxItems: 20,
      uniqueItems: true,
      description:
        '`http`, `tcp`, `ping`, `dns`, `certificate`, `grpc`, `postgres`, `mysql`, `redis`: places that run the check: names of hosts, and `hub` for this server.',
      examples: [['hub', 'web-1', 'web-2']],
    }),
  ),
  votes: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Number of places in `from` in which the check must fail; by default more than half.',
      examples: [2],
    }),
  ),
  dependsOn: Type.Optional(dependsOn),
  enabled: Type.Optional(Type.Boolean({ description: '`false` pauses the checks.', examples: [true] })),
  open: Type.Optional(Type.Boolean({ description: 'True if anyone can see the badge.', examples: [true] })),
  message: Type.Optional(
    Type.String({
      maxLength: 4000,
      description: 'Advice that is included in each alert.',
      examples: ['Delete old dumps'],
    }),
  ),
});
export type WatchSettings = Static<typeof WatchSettings>;

/** Watch in the setting `watches`. Unknown fields are refused. */
export const StrictWatch = Type.Object(WatchSettings.properties, { additionalProperties: false });

const states = ['ok', 'pending', 'firing', 'cannot check'] as const;

const RecentReadings = defineShape('RecentReadings', {
  start: Type.String({ ...Time, description: 'Time of the first step.' }),
  step: Type.Number({ description: 'Seconds from one step to the next.', examples: [15] }),
  figures: Type.Array(
    nullable(Type.Number({ examples: [91.3] }), 'Worst reading of a step; `null` without a reading.'),
    {
      examples: [[91.3]],
    },
  ),
  bad: Type.Array(
    nullable(Type.Boolean({ examples: [true] }), 'True if the limit was reached; `null` without a check.'),
    {
      examples: [[true]],
    },
  ),
});
export type RecentReadings = Static<typeof RecentReadings>;

const phase = (description: string, example: number) => nullable(Type.Number({ examples: [example] }), description);

/** Phases of a connection, in order. */
const phases = ['dns', 'connect', 'tls', 'firstByte', 'body'] as const;
export type CheckPhase = (typeof phases)[number];

const Seen = defineShape('WatchSeen', {
  timings: nullable(
    defineShape('WatchTimings', {
      dns: phase('Name lookup.', 1.5),
      connect: phase('Connection.', 12),
      tls: phase('TLS handshake.', 25),
      firstByte: phase('Wait for the first byte of the response.', 180),
    }),
    'Duration of each phase of the last connection in milliseconds; `null` for a phase that did not end.',
  ),
  failed: nullable(Type.Enum(phases, { type: 'string', examples: ['tls'] }), 'Phase in which the check failed.'),
  text: nullable(
    Type.String({ examples: ['{"error":"no database"}'] }),
    'Up to 500 characters of the response or output after a fault.',
  ),
});
export type Seen = Static<typeof Seen>;

export const WatchedThing = defineShape('WatchedThing', {
  thing: Type.String({ description: 'Watched object, such as a mount, unit or address.', examples: ['/var'] }),
  state: Type.Enum(states, {
    type: 'string',
    examples: ['firing'],
    description: '`pending`: the limit has not yet been reached for the time `for`.',
  }),
  level: nullable(
    Type.Enum(severities, { type: 'string', examples: ['WARNING'] }),
    'Level of the firing alert; `null` if no alert fires.',
  ),
  figure: nullable(Type.Number({ examples: [91.3] }), 'Last reading; `null` if the reading is not a number.'),
  text: Type.String({ description: 'Last reading, as text.', examples: ['/var is 91.3 % full (4.2 GiB free)'] }),
  at: Time,
  since: Type.String({ ...Time, description: 'Start of the current state.' }),
  seen: nullable(Seen, 'Details of the last check; `null` if there are none.'),
  recent: nullable(RecentReadings, 'Readings of the last hours; `null` in a test.'),
});
export type WatchedThing = Static<typeof WatchedThing>;

export const Watch = defineShape('Watch', {
  name: WatchSettings.properties.name,
  origin: Type.Enum(['default', 'config', 'made'], {
    type: 'string',
    examples: ['config'],
    description: 'Origin of the watch; only `made`, a runtime watch, can be changed.',
  }),
  settings: WatchSettings,
  hidden: Type.Array(Type.Enum(watchSecrets, { type: 'string', examples: ['password'] }), {
    description: 'Names of secrets that have a value but are not shown.',
  }),
  state: Type.Enum([...states, 'new', 'paused', 'elsewhere'], {
    type: 'string',
    examples: ['firing'],
    description:
      'Worst state of all `things`. `new`: not checked yet. `paused`: not enabled. `elsewhere`: another instance checks the watch.',
  }),
  since: nullable(Time, 'Start of the current state.'),
  things: Type.Array(WatchedThing),
  ...settingFacts,
});
export type Watch = Static<typeof Watch>;

export const WatchList = defineList('WatchList', 'Watches', Watch);

export const WatchTrial = defineShape('WatchTrial', {
  things: Type.Array(WatchedThing, {
    description: 'Readings of the test; in state `pending`, the watch would raise an alert.',
  }),
});

export const WatchParams = Type.Object({
  watch: Type.String({ description: 'Name of a watch.', examples: ['var'] }),
});
