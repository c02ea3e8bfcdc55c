import { MiB } from '../../lib/units.ts';
import type { LogRecord } from './line.ts';

/** Event that a journal reports to the program's own log. */
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
  /**
   * A line is unreadable, or records are missing. `damage` names the file and the place, as a clause. Each damage is
   * reported only once.
   */
  | { type: 'damaged'; damage: string };

export type ReportEvent = (event: JournalEvent) => void;

/** Functions that index a log. */
export interface Indexing {
  /** Returns the time of a record in Unix milliseconds. Undefined for a record without a time. */
  timeOf(record: LogRecord): number | undefined;
  /** Returns the key under which a record is counted. */
  keyOf(record: LogRecord): string | undefined;
  /**
   * Keys that are always counted separately. Each file also counts about a hundred other keys separately, and the rest
   * together.
   */
  keys: readonly string[];
}

export interface JournalOptions {
  /** Directory. Created with mode 0700 if it is missing. */
  directory: string;
  /** Base name of the files: `NAME.jsonl`, and its closed segments `NAME.00000001.jsonl` and so on. */
  name: string;
  /** Maximum size of a segment in bytes. A segment is closed before a batch that would exceed this size. */
  segmentBytes?: number;
  /** Number of closed segments to keep. 0 keeps all. */
  retainSegments?: number;
  /** Bytes of closed segments to keep. 0 keeps all. */
  retainBytes?: number;
  /**
   * Days for which to keep a closed segment after its last record. 0 keeps all. If set, a segment is also closed when
   * its first record is a day old, so records are kept for at most one extra day.
   */
  retainDays?: number;
  /** Maximum number of records waiting for the disk. Further records are refused. */
  queueCount?: number;
  /** Maximum size in bytes of records waiting for the disk. */
  queueBytes?: number;
  /** Maximum size of a line in bytes. Longer lines are neither written nor listed. */
  maxLineBytes?: number;
  /** Minimum free bytes of the file system. Records are refused while fewer are free. */
  minFreeBytes?: number;
  /** `false` acknowledges records before they are on disk. Faster, but a power loss may lose records. */
  sync?: boolean;
  /** Converts a record to JSON. Default: `JSON.stringify`. */
  toJson?: (record: LogRecord) => string;
  /** Number of recent records kept in memory, for readers that keep up with the log. */
  recentCount?: number;
  /** Index of times and keys. By default, records have neither. */
  indexing?: Indexing;
  /** True if segments must not be deleted before the first call of `holdFrom`. */
  awaitsHold?: boolean;
  /** Lines to report as damaged. `any` accepts lines of other programs, `own` does not, and `all` also reports gaps. */
  expects?: 'any' | 'own' | 'all';
  /** Milliseconds between attempts to resume writing after a failure. */
  retryMs?: number;
  report?: ReportEvent;
  /** Receives the duration of each record sync, in seconds. */
  onSync?: (seconds: number) => void;
  /** Receives the progress of background indexing: files done, and files in total. */
  onIndexed?: (done: number, files: number) => void;
}

export type JournalSettings = Required<JournalOptions>;

/** Maximum number of bytes per write, unless a single line or group is longer. */
export const maxBatchBytes = MiB;

/** Maximum size in bytes of the lines in a group: a body of 8 MiB plus the ends of the lines. */
export const maxGroupBytes = 10 * MiB;

/** Adds the defaults: segments of 64 MiB, kept forever, with every write synced. */
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

/** Wraps `report` so that errors it throws are ignored, because they must not stop the log. */
const createSafeReport =
  (report: ReportEvent = () => undefined): ReportEvent =>
  (event) => {
    try {
      report(event);
    } catch {
      // There is nowhere left to report the error.
    }
  };
