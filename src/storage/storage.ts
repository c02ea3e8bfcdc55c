import type { OpenChanges } from './changes.ts';
import type { Folder } from './folder.ts';
import type { Journal } from './journal/journal.ts';
import type { JournalOptions } from './journal/options.ts';
import type { Database } from './postgres/database.ts';
import type { ReplacedFile } from './replaced-file.ts';
import type { ProjectionSnapshot } from './snapshot.ts';

/** Durable data: files in the data directory, and the database that instances share. */
export interface Storage {
  /** Kind of store selected by the setting `store`. */
  store: 'memory' | 'file' | 'postgresql';
  /** Absolute path of the data directory. */
  directory: string;
  /** Database that instances share. Undefined unless `store` is an address. */
  database: Database | undefined;
  /** Opens the log `NAME.jsonl`. Throws a SettingsError if the directory cannot be used. */
  log(name: string, options?: LogOptions): Promise<Journal>;
  /**
   * Opens a state whose changes are stored in files or in memory, depending on `store`. Throws a SettingsError if the
   * files cannot be used.
   */
  changes: OpenChanges;
  /** Opens the snapshot in the file `NAME.state`. Leaves `minFreeBytes` of the disk free, by default 16 MiB. */
  snapshot(name: string, minFreeBytes?: number): ProjectionSnapshot;
  /** Returns the small file with this name. */
  file(name: string): ReplacedFile;
  /** Returns the folder with this name, for many small files. */
  folder(name: string): Folder;
}

export interface LogOptions
  extends Omit<JournalOptions, 'directory' | 'name' | 'report' | 'onSync' | 'onIndexed' | 'retryMs'> {
  /** Prefix of messages about this log in the program's own log. Default: `NAME log`. */
  title?: string;
  /** `false` if snapshots replace deleted segments. The program's own log then does not mention deletions. */
  logsRemoval?: boolean;
}
