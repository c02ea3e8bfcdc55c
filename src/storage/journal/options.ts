import { MiB } from '../../lib/units.ts';
import type { LogRecord } from './line.ts';

/** Events of a journal other than appends, for the program's own log. */
export type JournalEvent =
  /** An incomplete last line was moved to the file `savedAs`. */
  | { type: 'tail-cut'; bytes: number; savedAs: string }
  /** A write or sync failed. Further failures are not reported until `recovered`. */
  | { type: 'failed'; error: Error }
  /** Records are stored again. */
  | { type: 'recovered' }
  /** Another program renamed, removed, replaced or changed the file, and it was opened again. */
  | { type: 'reopened' }
  /** Segments were deleted according to the retention settings. */
  | { type: 'segments-removed'; files: string[] }
  /** A line that cannot be read, or records that are missing, with file and place as a clause; once for each. */
  | { type: 'damaged'; damage: string };

export type ReportEvent = (event: JournalEvent) => void;

/** What the index of a log keeps of its records. */
export interface Indexing {
  /** A record's time in Unix milliseconds; undefined where it has none. */
  timeOf(record: LogRecord): number | undefined;
  /** What records are counted by. */
  keyOf(record: LogRecord): string | undefined;
  /** Keys that are always counted separately. Of others, about a hundred are in each file; the rest is counted together. */
  keys: readonly string[];
}

export interface JournalOptions {
  /** Created with mode 0700 if it does not exist. */
  directory: string;
  /** The log is the file `NAME.jsonl`; its closed segments are `NAME.00000001.jsonl` and so on. */
  name: string;
  /** A segment is closed before a batch that would make it larger. */
  segmentBytes?: number;
  /** How many closed segments are kept; 0 keeps all. The same for the next two. */
  retainSegments?: number;
  /** How many bytes of closed segments are kept. */
  retainBytes?: number;
  /**
   * How many days after its last record a closed segment is kept. If set, a segment is also closed when its first record
   * is a day old, so records are kept for at most one more day.
   */
  retainDays?: number;
  /** How many records, and how many bytes of them, may wait for the disk; further ones are refused. */
  queueCount?: number;
  queueBytes?: number;
  /** Longer lines are neither written nor listed. */
  maxLineBytes?: number;
  /** Nothing is written while the file system has less than this free. */
  minFreeBytes?: number;
  /** `false` acknowledges before the record is on disk: faster, but not safe against power loss. */
  sync?: boolean;
  /** How a record becomes JSON; by default as `JSON.stringify` does it. */
  toJson?: (record: LogRecord) => string;
  /** How many of the last records are kept in memory, for readers that keep up with the log. */
  recentCount?: number;
  /** By default records have neither times nor keys. */
  indexing?: Indexing;
  /** Deletes nothing before `holdFrom` was called. */
  awaitsHold?: boolean;
  /** Damage that is reported: with `own`, lines of other programs, too; with `all`, gaps between files as well. */
  expects?: 'any' | 'own' | 'all';
  /** How long to wait between attempts to write again after a failure. */
  retryMs?: number;
  report?: ReportEvent;
  /** Receives the seconds that each sync of records took. */
  onSync?: (seconds: number) => void;
  /** How many of so many old files are indexed, which goes on in the background. */
  onIndexed?: (done: number, files: number) => void;
}

export type JournalSettings = Required<JournalOptions>;

/** The most that is written at once, unless one line or group is longer. */
export const maxBatchBytes = MiB;

/** The most that the lines of a group take together: those of a body of 8 MiB, with what each line adds. */
export const maxGroupBytes = 10 * MiB;

/** Defaults: segments of 64 MiB that are kept for ever, and everything synced. */
export const withDefaults = (options: JournalOptions): JournalSettings => ({
  segmentBytes: 64 * MiB,
  retainSegments: 0,
  retainBytes: 0,
  retainDays: 0,
  queueCount: 10_000,
  queueBytes: 32 * MiB,
  maxLineBytes: 2 * MiB,
  minFreeBytes: MiB,
  sync: true,
  awaitsHold: false,
  expects: 'any',
  toJson: JSON.stringify,
  recentCount: 0,
  indexing: { timeOf: () => undefined, keyOf: () => undefined, keys: [] },
  retryMs: 1000,
  onSync: () => undefined,
  onIndexed: () => undefined,
  ...options,
  report: createSafeReport(options.report),
});

/** An error in `report` must not stop the log. */
const createSafeReport =
  (report: ReportEvent = () => undefined): ReportEvent =>
  (event) => {
    try {
      report(event);
    } catch {
      // There is nowhere left to report this.
    }
  };
