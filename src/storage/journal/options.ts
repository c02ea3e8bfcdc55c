import { MiB } from '../../lib/units.ts';
import type { LogRecord } from './line.ts';

/** Events of a journal for the program's log. */
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

/** Functions by which a log is indexed. */
export interface Indexing {
  /** Returns a record's time in Unix milliseconds; undefined for a record without a time. */
  timeOf(record: LogRecord): number | undefined;
  /** Returns the key by which a record is counted. */
  keyOf(record: LogRecord): string | undefined;
  /** Keys that are always counted separately. Each file counts about a hundred others separately, and the rest together. */
  keys: readonly string[];
}

export interface JournalOptions {
  /** Created with mode 0700 if it does not exist. */
  directory: string;
  /** Name of the file `NAME.jsonl` and of its closed segments, `NAME.00000001.jsonl` and so on. */
  name: string;
  /** Maximum bytes of a segment: it is closed before a batch that would exceed them. */
  segmentBytes?: number;
  /** Closed segments to keep; 0 keeps all. */
  retainSegments?: number;
  /** Bytes of closed segments to keep; 0 keeps all. */
  retainBytes?: number;
  /**
   * Days after its last record for which a closed segment is kept; 0 keeps all. If set, a segment is also closed when its first
   * record is a day old, so records are kept for at most one more day.
   */
  retainDays?: number;
  /** Maximum records that wait for the disk; further records are refused. */
  queueCount?: number;
  /** Maximum bytes of records that wait for the disk. */
  queueBytes?: number;
  /** Longer lines are neither written nor listed. */
  maxLineBytes?: number;
  /** Records are refused while the file system has fewer free bytes. */
  minFreeBytes?: number;
  /** `false` acknowledges before the record is on disk: faster, but not safe against power loss. */
  sync?: boolean;
  /** Converts a record to JSON; `JSON.stringify` by default. */
  toJson?: (record: LogRecord) => string;
  /** Last records that stay in memory, for readers that keep up with the log. */
  recentCount?: number;
  /** Index of times and keys; records have neither by default. */
  indexing?: Indexing;
  /** No segment is deleted before the first call of `holdFrom`. */
  awaitsHold?: boolean;
  /** Lines to report as damaged: `any` allows lines of other programs, `own` does not, `all` also reports gaps between files. */
  expects?: 'any' | 'own' | 'all';
  /** Milliseconds between attempts to write again after a failure. */
  retryMs?: number;
  report?: ReportEvent;
  /** Receives the seconds that each sync of records took. */
  onSync?: (seconds: number) => void;
  /** Receives the progress of background indexing: files done, files in all. */
  onIndexed?: (done: number, files: number) => void;
}

export type JournalSettings = Required<JournalOptions>;

/** Maximum bytes of one write, unless one line or group is longer. */
export const maxBatchBytes = MiB;

/** Maximum bytes of a group's lines: a body of 8 MiB, and the end of each line. */
export const maxGroupBytes = 10 * MiB;

/** Adds defaults: segments of 64 MiB are kept for ever, and all writes are synced. */
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

/** Ignores errors of `report`, which must not stop the log. */
const createSafeReport =
  (report: ReportEvent = () => undefined): ReportEvent =>
  (event) => {
    try {
      report(event);
    } catch {
      // Nothing is left to report the error to.
    }
  };
