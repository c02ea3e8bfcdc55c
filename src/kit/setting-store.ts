import { StoreConflict } from '../lib/expected-errors.ts';

/** Setting that was created or changed while the server was running. */
export interface RuntimeSetting<T = unknown> {
  name: string;
  value: T;
  /** Version, which is new after each change, even if the setting is deleted and recreated. */
  version: number;
  /** Author of the last change. */
  by: string;
  /** Time of the last change, in Unix milliseconds. */
  at: number;
  /** Time of creation, in Unix milliseconds. */
  createdAt: number;
}

/** Limits for the settings of a kind, which are enforced for concurrent changes, too. */
export interface PutOptions {
  /**
   * Maximum number of settings, with the plural noun and the advice for the error message (default: delete some first).
   */
  limit?: { count: number; plural: string; advice?: string };
  /** Maximum number of characters in all values as JSON. Default: 4 MiB. */
  characters?: number;
  /** True if names that differ only in case count as the same name. */
  isCaseless?: boolean;
  /** True for a change that removes rights, which is exempt from limits. */
  isRevocation?: boolean;
  /** Description for the audit, if the name is only an id. */
  label?: string | undefined;
}

/** Reason why a setting cannot be read, and its description for the audit. */
export interface BrokenReason {
  reason: string;
  label: string | undefined;
}

/**
 * Runtime settings by kind and name, offered by the feature `settings` and shared by instances with one database.
 * Values are JSON, checked by the feature that stores them. Methods reject with StoreUnavailable while changes cannot
 * be stored, and with a StoreConflict if `expected` does not contain the current version; 0 stands for no setting.
 */
export interface SettingStore {
  /** Returns a kind's current settings, oldest first. */
  list<T>(kind: string): RuntimeSetting<T>[];
  find<T>(kind: string, name: string): RuntimeSetting<T> | undefined;
  /**
   * Stores and returns a setting. At a limit, settings of the kind whose `endsAt` (Unix milliseconds) has passed are
   * removed first. Rejects with an HttpError if the limit is still exceeded.
   */
  put<T>(
    kind: string,
    name: string,
    value: T,
    by: string,
    expected?: readonly number[],
    options?: PutOptions,
  ): Promise<RuntimeSetting<T>>;
  /** Deletes a setting. Resolves to false if it did not exist. `label` describes the setting for the audit. */
  delete(kind: string, name: string, by: string, expected?: readonly number[], label?: string): Promise<boolean>;
  /** Replaces the list of a kind's unreadable settings, by name. The feature `settings` lists and reports them. */
  noteBroken(kind: string, broken: ReadonlyMap<string, BrokenReason>): void;
  /** False until the stored settings have been read, because a database may be unavailable at startup. */
  isRead(): boolean;
  /** Reads changes made by other instances now. */
  catchUp(): Promise<void>;
  /** Calls the listener after changes, including changes by other instances, within about a second. */
  onChanged(kind: string, listener: () => void): void;
}

/** Creates the error for a change that expected another version; 0 stands for no setting. */
export const toVersionConflict = (name: string, version: number): StoreConflict =>
  new StoreConflict(
    version === 0 ? `${name} was deleted` : `${name} was changed; its current version is ${version}`,
    version,
  );
