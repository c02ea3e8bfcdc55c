import type { HostReadings } from '../../host/readings.ts';
import type { AlertSource } from '../../kit/alert-source.ts';
import type { Concern } from '../../kit/feature.ts';
import type { HistoryColumn, HistorySource } from '../../kit/offers.ts';
import type { Severity } from '../../kit/severity.ts';
import type { Targets } from '../../kit/targets.ts';
import { createLikeTest, isLike } from '../../lib/wildcards.ts';
import type { Awaitable } from '../../storage/list.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { AlertCounts } from './alert-counts.ts';
import type { FigureLimits } from './condition.ts';
import type { RecentUsage } from './recent-usage.ts';
import type { ownWatchSettings, WatchSettings } from './schema.ts';

/** What checks read. */
export interface WatchReadings {
  host: HostReadings;
  /** Readings of the machine that several watches share. */
  shared: Pick<HostReadings, 'fileSystems' | 'processes'>;
  usage: RecentUsage;
  targets: Targets;
  /** All stored alerts; undefined where they are not mounted. */
  journal: Pick<RecordLog, 'search'> | undefined;
  alertCounts: AlertCounts | undefined;
  silenceOf: AlertSource['silenceOf'] | undefined;
  findConcerns(): Promise<Concern[]>;
  /** Bytes of the file system that has the data directory. */
  readDataSpace(): Promise<{ used: number; available: number }>;
  clock: () => Date;
  /** Undefined where it is not mounted. */
  history: HistorySource | undefined;
}

/** Lists so many values of the history up to now. */
export type ListPast = (column: HistoryColumn) => number[];

/** What a check has found of one thing. */
export type Finding = {
  /** Which one: a mount, a unit, an address. */
  thing: string;
  /** In words, without the limit: `/var is 91.3 % full (4.2 GiB free)`. */
  words: string;
  /** FigureLimits other than those of the watch, and what they are called. */
  limits?: FigureLimits;
} & (
  | { figure: number; toText(figure: number): string }
  /** A question of yes or no. */
  | { isBad: boolean; figure?: number }
  /** Why it could not be checked is in the words. */
  | { isUnknown: true }
);

export type WatchScope = 'machine' | 'network' | 'instance';

/** A kind of watch. */
export interface WatchType {
  name: WatchSettings['type'];
  /**
   * `machine`: one instance on each machine checks it. `network`: one instance of all. `instance`: each one.
   */
  scope(watch: WatchSettings): WatchScope;
  /** The settings that it has beside those of all types, and those of them that it needs. */
  keys: readonly (keyof typeof ownWatchSettings)[];
  required?: readonly (keyof typeof ownWatchSettings)[];
  /** Whether it has limits: it needs one, has none but asks a question of yes or no, or can have one. */
  limit: 'required' | 'none' | 'optional';
  /** The limit of a watch that names none. */
  usualLimit?: number;
  /** The level of a fault that is no figure, unless the watch says; WARNING by default. */
  usualLevel?: Severity;
  /** What is said of a thing that is not found any more. */
  goneWords?(thing: string): string;
  isLowBad?(watch: WatchSettings): boolean;
  /** Its figures of a thing before it was watched, as the history has them, oldest first; NaN stands for unknown. */
  listPast?(watch: WatchSettings, thing: string, list: ListPast, host: HostReadings): Awaitable<number[]>;
  /** Seconds between two checks, unless the watch says. */
  every: number;
  /** `for`, unless the watch says. */
  for?: number;
  /** Why it cannot be used, as a clause. */
  findProblem?(watch: WatchSettings): string | undefined;
  /** Rejects with an Error whose message says why it cannot be checked; gives up when the signal is aborted. */
  check(watch: WatchSettings, readings: WatchReadings, signal: AbortSignal): Promise<Finding[]>;
}

export const defineWatchType = (type: WatchType): WatchType => type;

/** The things that patterns find; a pattern that finds nothing cannot be checked. */
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

/** Whether a watch leaves out a thing with this name. */
export const isExcepted = ({ except = [] }: WatchSettings, name: string): boolean =>
  except.some((pattern) => isLike(name, pattern));

/** Rounded towards the good: what is not quite full is not 100 % full. */
export const toPercentText = (percent: number): string => `${(Math.floor(percent * 10 + 1e-6) / 10).toString()} %`;

export const toMsText = (ms: number): string => `${Math.round(ms)} ms`;

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export const toBytesText = (bytes: number): string => {
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
};
