import Type, { type Static, type TObject } from 'typebox';
import { HttpError } from '../../http/errors.ts';
import { parseSchedule } from '../../kit/schedule.ts';
import type { RuntimeSetting } from '../../kit/setting-store.ts';
import { severities } from '../../kit/severity.ts';
import { readOwnTimeZone } from '../../lib/time-zone.ts';

/** Ten years: later ones are mistakes. */
const longestSeconds = 10 * 366 * 24 * 60 * 60;

/** Of the time between two, where nobody gives a grace. */
const usualShare = 0.2;

/** How much before its time one may come: at most a minute, and this share of the time between two. */
const earlyMs = 60_000;
const earlyShare = 0.1;

/** No name has the form of a UUID, so names and addresses cannot be confused. */
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const nameForm = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';

const fields = {
  period: Type.Optional(
    Type.Integer({
      minimum: 10,
      maximum: longestSeconds,
      description: 'Seconds from one to the next. This or a schedule is needed.',
      examples: [86_400],
    }),
  ),
  schedule: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'When one is expected, as five fields of cron. If day or weekday begins with `*`, both must match.',
      examples: ['0 2 * * *'],
    }),
  ),
  timeZone: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Of the schedule; that of the server by default.',
      examples: ['Europe/Berlin'],
    }),
  ),
  grace: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: longestSeconds,
      description: 'Seconds that one may be late; by default 20 % of the time between two.',
      examples: [3600],
    }),
  ),
  maxRunMinutes: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: longestSeconds / 60,
      description: 'A run that was started must end within so many minutes.',
      examples: [90],
    }),
  ),
  level: Type.Optional(
    Type.Enum(severities, { type: 'string', description: 'Of its alert; `ERROR` by default.', examples: ['ERROR'] }),
  ),
  description: Type.Optional(
    Type.String({ maxLength: 4000, description: 'What it is, and what to do if it is down.', examples: ['nightly'] }),
  ),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100, examples: ['db'] }), {
      maxItems: 20,
      description: 'Words that its alert has as the label `tags`.',
    }),
  ),
  open: Type.Optional(Type.Boolean({ description: 'Anyone may see its badge.', examples: [true] })),
};

/** What a heartbeat is, as a request gives it. */
export const HeartbeatDefinition = Type.Object(fields, { title: 'HeartbeatDefinition' });
export type HeartbeatDefinition = Static<typeof HeartbeatDefinition>;

const ConfiguredHeartbeat = Type.Object(
  {
    name: Type.String({ pattern: nameForm, description: 'Letters, digits, `.`, `_` and `-`; at most 64.' }),
    uuid: Type.Optional(
      Type.String({ pattern: uuid.source.replaceAll('a-f', 'A-Fa-f'), description: 'Its secret address.' }),
    ),
    ...fields,
  },
  { additionalProperties: false },
);
export type ConfiguredHeartbeat = Static<typeof ConfiguredHeartbeat>;

export const heartbeatSettings = {
  heartbeats: Type.Array(ConfiguredHeartbeat, {
    default: [],
    description: 'Jobs that are expected on a schedule; a late one raises an alert.',
  }),
};
export type HeartbeatSettings = Static<TObject<typeof heartbeatSettings>>;

/** What conflicts in the settings, as clauses. */
export const findHeartbeatProblems = ({ heartbeats }: HeartbeatSettings): string[] => {
  const problems: string[] = [];
  const hasTwice = (values: readonly string[]): boolean => new Set(values).size < values.length;
  if (hasTwice(heartbeats.map(({ name }) => name))) problems.push('heartbeats must all have different names');
  if (hasTwice(heartbeats.flatMap((one) => one.uuid?.toLowerCase() ?? [])))
    problems.push('heartbeats must all have different UUIDs');
  for (const heartbeat of heartbeats) {
    try {
      assertName(heartbeat.name);
      compileTimes(heartbeat);
    } catch (error) {
      problems.push(`heartbeats.${heartbeat.name}: ${(error as Error).message}`);
    }
  }
  return problems;
};

export const isUuid = (text: string): boolean => uuid.test(text);

/** @throws HttpError */
export const assertName = (name: string): void => {
  if (new RegExp(nameForm).test(name) && !isUuid(name)) return;
  throw new HttpError(
    'invalid',
    'The name of a heartbeat has up to 64 letters, digits, ".", "_" and "-", begins with a letter or digit, and is no UUID',
  );
};

/** When a heartbeat is expected. Times are Unix milliseconds. */
interface ExpectedTimes {
  /** When the one after another is due. */
  dueAfter(at: number): number;
  /** For how long one that is due then may be late. */
  graceAt(due: number): number;
}

/** @throws HttpError for what cannot be used */
export const compileTimes = ({ period, schedule, timeZone, grace }: HeartbeatDefinition): ExpectedTimes => {
  if ((period === undefined) === (schedule === undefined)) {
    throw new HttpError('invalid', 'A heartbeat has either period or schedule');
  }
  if (period !== undefined) {
    if (timeZone !== undefined) throw new HttpError('invalid', 'timeZone belongs to schedule');
    const graceMs = 1000 * (grace ?? Math.max(1, Math.round(period * usualShare)));
    return { dueAfter: (at) => at + period * 1000, graceAt: () => graceMs };
  }
  const cron = parseSchedule(schedule ?? '', timeZone ?? readOwnTimeZone());
  const nextAfter = (at: number): number => cron.nextRun(new Date(at))?.getTime() ?? Number.POSITIVE_INFINITY;
  /** What comes a little before its time, by a fast clock, is not the one before: the next one is due after that time. */
  const dueAfter = (at: number): number => {
    const next = nextAfter(at);
    if (next - at > earlyMs) return next;
    const before = cron.previousRuns(1, new Date(next))[0]?.getTime() ?? 0;
    const after = nextAfter(next);
    return next - at <= Math.min(earlyMs, earlyShare * Math.min(next - before, after - next)) ? after : next;
  };
  return {
    dueAfter: rememberLast(dueAfter),
    graceAt: rememberLast((due) => {
      if (grace !== undefined) return grace * 1000;
      const next = dueAfter(due);
      return next === Number.POSITIVE_INFINITY ? 3_600_000 : Math.max(1000, Math.round((next - due) * usualShare));
    }),
  };
};

/** Remembers the last result: times of a cron expression cost a millisecond, and are asked for again until a ping comes. */
const rememberLast = (find: (at: number) => number): ((at: number) => number) => {
  let last = { at: Number.NaN, found: 0 };
  return (at) => {
    if (at !== last.at) last = { at, found: find(at) };
    return last.found;
  };
};

/** A heartbeat in use. */
export interface KnownHeartbeat {
  name: string;
  /** Its secret address; a configured one may have none. */
  uuid: string | undefined;
  definition: HeartbeatDefinition;
  times: ExpectedTimes;
  /** When it was created: another one with this name has another one. 0 in the config file. */
  since: number;
  /** When its definition was changed; 0 for one that the config file had on startup. */
  changedAt: number;
  /** Undefined in the config file. */
  setting: Pick<RuntimeSetting, 'version' | 'by' | 'at'> | undefined;
}
