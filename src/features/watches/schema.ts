import Type, { type Static } from 'typebox';
import { pressures } from '../../host/readings.ts';
import { defineList, defineShape, nullable, Time } from '../../kit/route.ts';
import { settingFacts } from '../../kit/setting-kind.ts';
import { severities } from '../../kit/severity.ts';

/** Names of watches are parts of sources, fingerprints and paths. */
const namePattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';

const longestText = 1000;
const patterns = (description: string, examples: string[]) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: longestText, examples }), {
      minItems: 1,
      maxItems: 100,
      description,
      examples: [examples],
    }),
  );
const text = (description: string, example: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: longestText, description, examples: [example] }));
const count = (description: string, example: number) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, description, examples: [example] }));

const watchTypeNames = [
  ...['disk', 'memory', 'swap', 'cpu', 'load', 'network', 'pressure', 'temperature'],
  ...['process', 'service', 'file'],
  ...['http', 'tcp', 'certificate', 'alert', 'database', 'journal', 'destination'],
] as const;

/** What a watch looks at: each type has some of these. */
export const ownWatchSettings = {
  mounts: patterns(
    '`disk`: mount paths, in which `*` stands for any text; all fixed disks by default. Read-only file systems count only where named without `*`.',
    ['/srv/*'],
  ),
  metric: Type.Optional(
    Type.Enum(['used', 'free', 'inodes', 'received', 'sent', 'memory', 'cpu', 'silence', 'count'], {
      type: 'string',
      examples: ['used'],
      description:
        'What `limit` is about. `disk`: `used` percent (the default), `free` bytes, or percent of `inodes`. `network`: bytes per second `received` (the default) or `sent`. `process`: `memory` in MiB or `cpu` in percent of one processor. `alert`: minutes of `silence` (the default), or their `count` beyond the limit.',
    }),
  ),
  except: patterns('`disk`, `temperature`, `service`: mounts, sensors or units that are left out, with `*`.', [
    '/snap/*',
  ]),
  resource: Type.Optional(
    Type.Enum(pressures, {
      type: 'string',
      description: '`pressure`: what tasks wait for; memory by default.',
      examples: ['io'],
    }),
  ),
  sensor: text('`temperature`: chip and label, with `*`; all by default.', 'coretemp *'),
  process: text("`process`: the program's name, with `*`.", 'postgres'),
  user: text('`process`: of this user only.', 'www-data'),
  min: count('`process`: at least so many exist; 1 by default.', 1),
  max: count('`process`: at most so many exist.', 10),
  units: patterns('`service`: systemd units, with `*`; all with `failed`.', ['nginx.service']),
  failed: Type.Optional(
    Type.Boolean({ description: '`service`: they need not run, but must not have failed.', examples: [true] }),
  ),
  path: text('`file`, `certificate`: a path, with `*`; only in the config file.', '/srv/backup/*.tar'),
  maxAgeHours: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 100_000,
      description: '`file`: the newest is at most so old.',
      examples: [26],
    }),
  ),
  minBytes: Type.Optional(
    Type.Integer({ minimum: 0, description: '`file`: the newest is at least so large.', examples: [1_000_000] }),
  ),
  url: text('`http`: what is requested.', 'https://shop.example/health'),
  status: Type.Optional(
    Type.String({
      maxLength: 100,
      description: '`http`: statuses that are right; 200-299 by default.',
      examples: ['200-299,401'],
    }),
  ),
  contains: text('`http`: a text that the first MiB of the body must contain.', 'ok'),
  certificateDays: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 10_000,
      description: '`http`: the certificate and its signers are valid for so many days.',
      examples: [14],
    }),
  ),
  ca: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100_000,
      description: '`http`, `certificate`: CAs in PEM that are trusted in addition.',
      examples: ['-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----'],
    }),
  ),
  caFile: text('`http`, `certificate`: a file with such CAs; only in the config file.', '/etc/ssl/own-ca.pem'),
  host: text('`tcp`, `certificate`: name or address of the server.', 'db.example'),
  port: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 65_535, description: '`tcp`, `certificate`: its port.', examples: [5432] }),
  ),
  source: text('`alert`: the source of the alerts, with `*`.', 'backup*'),
  minutes: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_080,
      description: '`alert`: alerts of so many minutes count; 60.',
      examples: [60],
    }),
  ),
};

const figure = (description: string, examples: number[] = [90]) =>
  Type.Optional(Type.Number({ minimum: -1e15, maximum: 1e15, description, examples }));

/** A watch as the settings and the routes have it. What its type needs is checked later, with errors that name it. */
export const WatchSettings = defineShape('WatchSettings', {
  name: Type.String({
    pattern: namePattern,
    description: 'Up to 64 letters, digits, `.`, `_` and `-`.',
    examples: ['var'],
  }),
  type: Type.Enum(watchTypeNames, { type: 'string', description: 'What is watched.', examples: ['disk'] }),
  ...ownWatchSettings,
  limit: figure('The figure that raises an alert, in the unit of the type.'),
  critical: figure('A second limit, whose alert is CRITICAL.', [97]),
  level: Type.Optional(
    Type.Enum(severities, {
      type: 'string',
      description:
        'The level of the first limit; by default WARNING, ERROR where `http` or `tcp` does not answer as it should.',
      examples: ['WARNING'],
    }),
  ),
  for: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 604_800,
      description: 'Seconds that it must hold; 0 by default.',
      examples: [60],
    }),
  ),
  clear: figure('The figure at which the alert ends; by default 2 percent of the limit on the good side.', [85]),
  every: Type.Optional(
    Type.Number({
      minimum: 1,
      maximum: 86_400,
      description:
        'Seconds between two checks; by default 60 for `file`, `http`, `tcp`, `certificate` and `alert`, 30 for `process` and `service`, which read more, and 10 for others.',
      examples: [60],
    }),
  ),
  enabled: Type.Optional(Type.Boolean({ description: 'False: it is not checked.', examples: [true] })),
  message: Type.Optional(
    Type.String({ maxLength: 4000, description: 'What to do; part of each alert.', examples: ['Delete old dumps'] }),
  ),
});
export type WatchSettings = Static<typeof WatchSettings>;

/** The settings `watches`: unknown members are refused. */
export const StrictWatch = Type.Object(WatchSettings.properties, { additionalProperties: false });

const states = ['ok', 'pending', 'firing', 'cannot check'] as const;

const RecentReadings = defineShape('RecentReadings', {
  start: Type.String({ ...Time, description: 'Time of the first step.' }),
  step: Type.Number({ description: 'Seconds from one step to the next.', examples: [15] }),
  figures: Type.Array(
    nullable(Type.Number({ examples: [91.3] }), 'The worst reading of a step; `null` where there is none.'),
    {
      examples: [[91.3]],
    },
  ),
  bad: Type.Array(nullable(Type.Boolean({ examples: [true] }), 'Whether the limit was reached; `null`: not checked.'), {
    examples: [[true]],
  }),
});
export type RecentReadings = Static<typeof RecentReadings>;

export const WatchedThing = defineShape('WatchedThing', {
  thing: Type.String({ description: 'What of it: a mount, a unit, an address.', examples: ['/var'] }),
  state: Type.Enum(states, {
    type: 'string',
    examples: ['firing'],
    description: '`pending`: not for as long as `for` says.',
  }),
  level: nullable(
    Type.Enum(severities, { type: 'string', examples: ['WARNING'] }),
    'Of the alert that fires; `null` if none does.',
  ),
  figure: nullable(Type.Number({ examples: [91.3] }), 'The last reading; `null` where it is no number.'),
  text: Type.String({ description: 'The last reading in words.', examples: ['/var is 91.3 % full (4.2 GiB free)'] }),
  at: Time,
  since: Type.String({ ...Time, description: 'Since when it is in this state.' }),
  recent: nullable(RecentReadings, 'Of the last hours; `null` in a test.'),
});
export type WatchedThing = Static<typeof WatchedThing>;

export const Watch = defineShape('Watch', {
  name: WatchSettings.properties.name,
  origin: Type.Enum(['default', 'config', 'made'], {
    type: 'string',
    examples: ['config'],
    description: 'Who has defined it; only `made` can be changed.',
  }),
  settings: WatchSettings,
  state: Type.Enum([...states, 'new', 'paused', 'elsewhere'], {
    type: 'string',
    examples: ['firing'],
    description:
      'The worst of its things. `new`: not checked yet. `paused`: not enabled. `elsewhere`: another instance checks it.',
  }),
  since: nullable(Time, 'Since when.'),
  things: Type.Array(WatchedThing),
  ...settingFacts,
});
export type Watch = Static<typeof Watch>;

export const WatchList = defineList('WatchList', 'Watches', Watch);

export const WatchTrial = defineShape('WatchTrial', {
  things: Type.Array(WatchedThing, { description: 'What it finds now; `pending` is what would be an alert.' }),
});

export const WatchParams = Type.Object({
  watch: Type.String({ description: 'Name of a watch.', examples: ['var'] }),
});
