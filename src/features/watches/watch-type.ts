import type { HostReadings } from '../../host/readings.ts';
import type { AlertSource } from '../../kit/alert-source.ts';
import type { Concern } from '../../kit/feature.ts';
import type { HistoryColumn, HistorySource, PlaceCheck } from '../../kit/offers.ts';
import type { Severity } from '../../kit/severity.ts';
import type { Targets } from '../../kit/targets.ts';
import { createLikeTest, isLike } from '../../lib/wildcards.ts';
import type { Awaitable } from '../../storage/list.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { AlertCounts } from './alert-counts.ts';
import type { FigureLimits } from './condition.ts';
import type { RecentUsage } from './recent-usage.ts';
import type { WatchSettings } from './schema.ts';
import type { ownWatchSettings } from './type-settings.ts';

/** Readings for checks. */
export interface WatchReadings {
  host: HostReadings;
  /** Readings that several watches share. */
  shared: Pick<HostReadings, 'fileSystems' | 'processes'>;
  usage: RecentUsage;
  targets: Targets;
  /** All stored alerts. */
  journal: Pick<RecordLog, 'search'>;
  alertCounts: AlertCounts;
  silenceOf: AlertSource['silenceOf'];
  findConcerns(): Promise<Concern[]>;
  /** Reads bytes of the file system of the data directory. */
  readDataSpace(): Promise<{ used: number; available: number }>;
  clock: () => Date;
  /** Returns the last results of a watch at hosts. */
  listChecks?(watch: string): PlaceCheck[];
  /** Undefined if the history is not mounted. */
  history: HistorySource | undefined;
}

/** Lists values of the history up to now. */
export type ListPast = (column: HistoryColumn) => number[];

/** Result of a check for one thing. */
export type Finding = {
  /** Mount, unit, address or the like. */
  thing: string;
  /** Text without the limit: `/var is 91.3 % full (4.2 GiB free)`. */
  words: string;
  /** Limits of the figure, if they are not those of the watch. */
  limits?: FigureLimits;
} & (
  | { figure: number; toText(figure: number): string }
  /** Yes-or-no check. */
  | { isBad: boolean; figure?: number }
  /** Failed check, with the reason in `words`. */
  | { isUnknown: true }
);

export type WatchScope = 'machine' | 'network' | 'instance';

export interface WatchType {
  name: WatchSettings['type'];
  /** Instances that check the watch: one on each machine, one for the network, or each instance. */
  scope(watch: WatchSettings): WatchScope;
  /** Settings of the type alone, and those that it requires. */
  keys: readonly (keyof typeof ownWatchSettings)[];
  required?: readonly (keyof typeof ownWatchSettings)[];
  /** `none`: a yes-or-no check. */
  limit: 'required' | 'none' | 'optional';
  /** Limit by default. */
  defaultLimit?: number;
  /** Level of a failed yes-or-no check by default; WARNING if undefined. */
  defaultLevel?: Severity;
  /** Describes a thing that checks no longer find. */
  describeGone?(thing: string): string;
  isLowBad?(watch: WatchSettings): boolean;
  /** Lists the figures of a thing before it was watched, from the history, oldest first; NaN stands for unknown. */
  listPast?(watch: WatchSettings, thing: string, list: ListPast, host: HostReadings): Awaitable<number[]>;
  /** Seconds between two checks by default. */
  every: number;
  /** Seconds that a limit must be reached by default; 0 if undefined. */
  for?: number;
  /** Returns the problem of invalid settings, as a clause. */
  findProblem?(watch: WatchSettings): string | undefined;
  /** Checks all things. Rejects with an Error whose message is the reason; gives up when the signal is aborted. */
  check(watch: WatchSettings, readings: WatchReadings, signal: AbortSignal): Promise<Finding[]>;
}

export const defineWatchType = (type: WatchType): WatchType => type;

/** Finds items by name; `missing` are the patterns without a match. */
export const findNamed = <T>(
  items: readonly T[],
  patterns: readonly string[],
  nameOf: (item: T) => string,
): { found: T[]; missing: string[] } => {
  const found = new Set<T>();
  const missing: string[] = [];
  for (const pattern of patterns) {
    const isMatch = createLikeTest(pattern);
    const matches = items.filter((item) => isMatch(nameOf(item)));
    if (matches.length === 0) missing.push(pattern);
    for (const item of matches) found.add(item);
  }
  return { found: [...found], missing };
};

/** True if a watch leaves out the thing with a name. */
export const isExcepted = ({ except = [] }: WatchSettings, name: string): boolean =>
  except.some((pattern) => isLike(name, pattern));

/** Rounds down, so that a disk that is not quite full is not 100 % full. */
export const toPercentText = (percent: number): string => `${(Math.floor(percent * 10 + 1e-6) / 10).toString()} %`;

export const toMsText = (ms: number): string => `${Math.round(ms)} ms`;

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export const toBytesText = (bytes: number): string => {
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
};
