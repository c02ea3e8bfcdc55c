import type { HostReadings } from '../../host/readings.ts';
import type { AlertSource } from '../../kit/alert-source.ts';
import type { Concern } from '../../kit/feature.ts';
import type { HistoryColumn, HistorySource, PlaceCheck } from '../../kit/offers.ts';
import type { Reach } from '../../kit/reach.ts';
import type { Severity } from '../../kit/severity.ts';
import { createLikeTest, isLike } from '../../lib/wildcards.ts';
import type { Awaitable } from '../../storage/list.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { AlertCounts } from './alert-counts.ts';
import type { FigureLimits } from './condition.ts';
import type { RecentUsage } from './recent-usage.ts';
import type { Seen, WatchSettings } from './schema.ts';
import type { UnknownChecks } from './shared-cause.ts';
import type { ownWatchSettings } from './type-settings.ts';

export interface WatchReadings {
  host: HostReadings;
  /** Readings shared by several watches. */
  shared: Pick<HostReadings, 'fileSystems' | 'processes'>;
  usage: RecentUsage;
  reach: Reach;
  /** All stored alerts. */
  journal: Pick<RecordLog, 'search'>;
  alertCounts: AlertCounts;
  quietMsOf: AlertSource['quietMsOf'];
  findConcerns(): Promise<Concern[]>;
  /** Reads the used and available bytes of the file system that contains the data directory. */
  readDataSpace(): Promise<{ used: number; available: number }>;
  clock: () => Date;
  /** Returns the last results from hosts for a watch. */
  listChecks?(watch: string): PlaceCheck[];
  /** Counts the checks of this server that do not work. */
  countUnknown(): UnknownChecks[];
  /** History. Undefined if it is not mounted. */
  history: HistorySource | undefined;
}

/** Lists the values of a history column up to now. */
export type ListPast = (column: HistoryColumn) => number[];

/** Result of a check for one thing. */
export type Finding = {
  /** Mount path, unit, address or similar. */
  thing: string;
  /** Text without the limit: `/var is 91.3 % full (4.2 GiB free)`. */
  words: string;
  /** Observations in addition to the text. Undefined if there are none. */
  seen?: Seen;
  /** Limits for the figure, if they differ from the limits of the watch. */
  limits?: FigureLimits;
} & (
  | { figure: number; toText(figure: number): string }
  /** Result of a yes-or-no check. A critical fault has the level CRITICAL. */
  | { isBad: boolean; isCritical?: boolean; figure?: number }
  /** Result of a failed check. The reason is in `words`. */
  | { isUnknown: true }
);

export type WatchScope = 'machine' | 'network' | 'instance';

export interface WatchType {
  name: WatchSettings['type'];
  /** Returns which instances run the check: one per machine, one for the network, or every instance. */
  scope(watch: WatchSettings): WatchScope;
  /** True if a check with the scope `machine` also takes a slot of network checks, because it starts a program. */
  usesNetworkSlot?: boolean;
  /** Settings that the type allows, and settings that it requires. */
  keys: readonly (keyof typeof ownWatchSettings)[];
  required?: readonly (keyof typeof ownWatchSettings)[];
  /** `none`: for a yes-or-no check. */
  limit: 'required' | 'none' | 'optional';
  defaultLimit?: number;
  /** Default level of a failed yes-or-no check. Undefined means WARNING. */
  defaultLevel?: Severity;
  /** Describes a thing that checks no longer find. */
  describeGone?(thing: string): string;
  isLowBad?(watch: WatchSettings): boolean;
  /** Lists figures of a thing from the history before it was watched, oldest first. NaN stands for unknown. */
  listPast?(watch: WatchSettings, thing: string, list: ListPast, host: HostReadings): Awaitable<number[]>;
  /** Default number of seconds between two checks. */
  every: number;
  /** Default number of seconds for which a limit must be reached. Undefined means 0. */
  for?: number;
  /** Returns the problem with the settings, as a clause. Undefined if there is none. */
  findProblem?(watch: WatchSettings): string | undefined;
  /** Checks all things. Rejects with an Error whose message is the reason. Stops when the signal is aborted. */
  check(watch: WatchSettings, readings: WatchReadings, signal: AbortSignal): Promise<Finding[]>;
}

export const defineWatchType = (type: WatchType): WatchType => type;

/** Finds items by name. `missing` lists the patterns that match nothing. */
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

/** True if a watch excludes the thing with this name. */
export const isExcepted = ({ except = [] }: WatchSettings, name: string): boolean =>
  except.some((pattern) => isLike(name, pattern));

/** Formats a percentage. Rounds down, so that a nearly full disk is not shown as 100 % full. */
export const toPercentText = (percent: number): string => `${(Math.floor(percent * 10 + 1e-6) / 10).toString()} %`;

export const toMsText = (ms: number): string => `${Math.round(ms)} ms`;

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export const toBytesText = (bytes: number): string => {
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
};
