import { createSchemaCheck } from '../../lib/schema-validation.ts';
import { findPushProblems } from './push-limit.ts';
import { WatchSettings } from './schema.ts';
import { fileSettings, ownWatchSettings } from './type-settings.ts';
import type { WatchType } from './watch-type.ts';
import { findWatchType, toWatchType } from './watch-types.ts';

const ownKeys = Object.keys(ownWatchSettings) as (keyof typeof ownWatchSettings)[];

const isWatch = createSchemaCheck(WatchSettings);

/** Returns the reason why a watch stored by another version is invalid. Undefined for a usable watch. */
export const findStoredProblem = (value: WatchSettings): string | undefined => {
  const { type, name } = Object(value) as Partial<WatchSettings>;
  if (!findWatchType(type)) return `there is no type ${JSON.stringify(type)}`;
  if (typeof name !== 'string' || !isWatch(value)) return 'this version cannot read the watch';
  return findWatchProblem(value);
};

/** Returns the problem with a watch that matches the schema, as a clause. Undefined for a usable watch. */
const findWatchProblem = (watch: WatchSettings): string | undefined => {
  const type = toWatchType(watch);
  const { keys, required = [] } = type;
  const foreign = ownKeys.find((key) => watch[key] !== undefined && !keys.includes(key));
  if (foreign !== undefined) return `type ${type.name} has no setting ${foreign}`;
  const missing = required.find((key) => watch[key] === undefined);
  if (missing !== undefined) return `type ${type.name} needs ${missing}`;
  return findLimitProblem(watch, type) ?? findPlaceProblem(watch, type) ?? type.findProblem?.(watch);
};

/** Types whose result depends on the place that runs the check. */
const remoteTypes: readonly WatchType['name'][] = [
  'http',
  'tcp',
  'ping',
  'dns',
  'certificate',
  'grpc',
  'postgres',
  'mysql',
  'redis',
];

/**
 * True for a watch that reads files or runs programs. Only the config file of the machine itself can define such a
 * watch.
 */
export const isConfigOnly = (watch: WatchSettings): boolean =>
  watch.type === 'file' || watch.type === 'plugin' || fileSettings.some((name) => watch[name] !== undefined);

/** Returns the problem with the hosts and places of a watch, as a clause. */
const findPlaceProblem = (watch: WatchSettings, type: WatchType): string | undefined => {
  const { hosts, from, votes } = watch;
  if (hosts && from) return 'set either hosts or from, not both';
  if ((hosts || from) && isConfigOnly(watch))
    return 'files and programs on a host can be watched only in the config file of that host';
  if (from && !remoteTypes.includes(type.name)) return `type ${type.name} has no setting from`;
  if (votes === undefined) return undefined;
  if (!from) return 'votes need from';
  return votes > from.length ? `votes must not exceed the ${from.length} places in from` : undefined;
};

const findLimitProblem = (watch: WatchSettings, type: WatchType): string | undefined => {
  const { critical, clear, limit = type.defaultLimit } = watch;
  if (limit === undefined) {
    if (type.limit === 'required') return `type ${type.name} needs limit`;
    return critical === undefined && clear === undefined ? undefined : 'critical and clear need a limit';
  }
  if (type.limit === 'none') return `type ${type.name} has no setting limit`;
  const isLowBad = type.isLowBad?.(watch) ?? false;
  const isWorse = (one: number, other: number): boolean => (isLowBad ? one < other : one > other);
  if (critical !== undefined && !isWorse(critical, limit)) {
    return `critical must be ${isLowBad ? 'lower' : 'higher'} than limit`;
  }
  if (clear !== undefined && isWorse(clear, limit))
    return `clear must not be ${isLowBad ? 'lower' : 'higher'} than limit`;
  return undefined;
};

/** Finds conflicts within the `watches` setting. */
export const findConfigProblems = (watches: readonly WatchSettings[]): string[] => {
  const names = watches.map(({ name }) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...new Set(twice.map((name) => `watches: several watches have the name ${name}`)),
    ...findPushProblems(watches),
    ...watches.flatMap((watch) => {
      const problem = findWatchProblem(watch);
      return problem === undefined ? [] : [`watches: ${watch.name}: ${problem}`];
    }),
  ];
};
