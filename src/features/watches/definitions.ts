import { hostLimits } from '../../kit/offers.ts';
import type { RuntimeSetting } from '../../kit/setting-store.ts';
import { createSchemaCheck } from '../../lib/schema-validation.ts';
import { isLike } from '../../lib/wildcards.ts';
import type { FigureLimits } from './condition.ts';
import { ownWatchSettings, WatchSettings } from './schema.ts';
import type { WatchType } from './type.ts';
import { alertWatch } from './types/alert.ts';
import { certificateWatch } from './types/certificate.ts';
import { diskWatch } from './types/disk.ts';
import { fileWatch } from './types/file.ts';
import { httpWatch } from './types/http.ts';
import { databaseWatch, destinationWatch, journalWatch } from './types/own.ts';
import { processWatch } from './types/process.ts';
import { serviceWatch } from './types/service.ts';
import { tcpWatch } from './types/tcp.ts';
import {
  cpuWatch,
  loadWatch,
  memoryWatch,
  networkWatch,
  pressureWatch,
  swapWatch,
  temperatureWatch,
} from './types/usage.ts';

/** Every kind of watch: one line for each. */
const watchTypes: readonly WatchType[] = [
  ...[diskWatch, memoryWatch, swapWatch, cpuWatch, loadWatch, networkWatch, pressureWatch, temperatureWatch],
  ...[processWatch, serviceWatch, fileWatch, httpWatch, tcpWatch, certificateWatch, alertWatch],
  ...[databaseWatch, journalWatch, destinationWatch],
];

/** A watch, who has defined it, and what its type makes of it. */
export interface KnownWatch {
  name: string;
  settings: WatchSettings;
  type: WatchType;
  origin: 'default' | 'config' | 'made';
  setting: RuntimeSetting<WatchSettings> | undefined;
  /** Undefined where it asks a question of yes or no. */
  limits: FigureLimits | undefined;
  everyMs: number;
  forMs: number;
}

/** What is watched unless the settings say otherwise. That destinations fail is an alert of its own. */
const defaultWatches: readonly WatchSettings[] = [
  { name: 'disk', type: 'disk', limit: 100 * hostLimits.disk, critical: 100 * hostLimits.fullDisk },
  {
    name: 'inodes',
    type: 'disk',
    metric: 'inodes',
    limit: 100 * hostLimits.disk,
    critical: 100 * hostLimits.fullDisk,
  },
  { name: 'memory', type: 'memory', limit: 100 * hostLimits.memory, for: 300 },
  { name: 'units', type: 'service', failed: true, every: 60 },
  { name: 'journal', type: 'journal' },
];

const toType = (watch: WatchSettings): WatchType => watchTypes.find(({ name }) => name === watch.type) as WatchType;

export const toKnownWatch = (
  settings: WatchSettings,
  origin: KnownWatch['origin'],
  setting?: RuntimeSetting<WatchSettings>,
): KnownWatch => {
  const type = toType(settings);
  const { limit = type.usualLimit, critical, clear } = settings;
  return {
    name: settings.name,
    settings,
    type,
    origin,
    setting,
    limits:
      limit === undefined
        ? undefined
        : {
            limit,
            critical,
            clear,
            isLowBad: type.isLowBad?.(settings) ?? false,
            isBeyond: settings.metric === 'count',
          },
    everyMs: 1000 * (settings.every ?? type.every),
    forMs: 1000 * (settings.for ?? type.for ?? 0),
  };
};

/** The default watches of a machine: without systemd, no unit can be checked. */
export const listDefaultWatches = (hasSystemd: boolean): readonly KnownWatch[] =>
  defaultWatches
    .filter(({ type }) => type !== 'service' || hasSystemd)
    .map((settings) => toKnownWatch(settings, 'default'));

/** Whether one that is enabled says how busy the processors are, or how full the memory or a disk is. */
export const isCovered = (watches: readonly KnownWatch[], what: 'cpu' | 'memory' | { mountPath: string }): boolean =>
  watches.some(({ settings: { type, enabled, metric, mounts } }) => {
    if (enabled === false) return false;
    if (typeof what === 'string') return type === what;
    if (type !== 'disk' || metric === 'inodes') return false;
    return mounts === undefined || mounts.some((pattern) => isLike(what.mountPath, pattern));
  });

const ownKeys = Object.keys(ownWatchSettings) as (keyof typeof ownWatchSettings)[];

const isWatch = createSchemaCheck(WatchSettings);

/** Why a stored watch cannot be used: another version may have stored it. */
export const findStoredProblem = (value: WatchSettings): string | undefined => {
  const { type, name } = Object(value) as Partial<WatchSettings>;
  if (!watchTypes.some((one) => one.name === type)) return `there is no type ${JSON.stringify(type)}`;
  if (typeof name !== 'string' || !isWatch(value)) return 'it is no watch of this version';
  return findWatchProblem(value);
};

/** Why a watch with a valid shape cannot be used, as a clause; undefined if it can. */
const findWatchProblem = (watch: WatchSettings): string | undefined => {
  const type = toType(watch);
  const { keys, required = [] } = type;
  const foreign = ownKeys.find((key) => watch[key] !== undefined && !keys.includes(key));
  if (foreign !== undefined) return `${foreign} is not for type ${type.name}`;
  const missing = required.find((key) => watch[key] === undefined);
  if (missing !== undefined) return `${missing} is needed for type ${type.name}`;
  return findLimitProblem(watch, type) ?? type.findProblem?.(watch);
};

const findLimitProblem = (watch: WatchSettings, type: WatchType): string | undefined => {
  const { critical, clear, limit = type.usualLimit } = watch;
  if (limit === undefined) {
    if (type.limit === 'required') return `limit is needed for type ${type.name}`;
    return critical === undefined && clear === undefined ? undefined : 'critical and clear need a limit';
  }
  if (type.limit === 'none') return `limit is not for type ${type.name}`;
  const isLowBad = type.isLowBad?.(watch) ?? false;
  const isWorse = (one: number, other: number): boolean => (isLowBad ? one < other : one > other);
  if (critical !== undefined && !isWorse(critical, limit)) {
    return `critical must be ${isLowBad ? 'lower' : 'higher'} than limit`;
  }
  if (clear !== undefined && isWorse(clear, limit))
    return `clear must not be ${isLowBad ? 'lower' : 'higher'} than limit`;
  return undefined;
};

/** Conflicts of the setting `watches`. */
export const findConfigProblems = (watches: readonly WatchSettings[]): string[] => {
  const names = watches.map(({ name }) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...new Set(twice.map((name) => `watches: there are several ${name}`)),
    ...watches.flatMap((watch) => {
      const problem = findWatchProblem(watch);
      return problem === undefined ? [] : [`watches: ${watch.name}: ${problem}`];
    }),
  ];
};
