import { StoreConflict } from '../lib/expected-errors.ts';

/** A setting that was created or changed while the server ran. */
export interface RuntimeSetting<T = unknown> {
  name: string;
  value: T;
  /** Version, new after each change, even if the setting was deleted and created again. */
  version: number;
  /** Author of the last change. */
  by: string;
  /** Time of the last change in Unix milliseconds. */
  at: number;
  /** Time of creation in Unix milliseconds. */
  createdAt: number;
}

/** Limits for the settings of a kind, which also hold for concurrent changes. */
export interface PutOptions {
  /** Maximum number of settings, with their plural noun and the advice of the refusal; by default to delete some first. */
  limit?: { count: number; plural: string; advice?: string };
  /** Maximum characters of all values as JSON; 4 MiB by default. */
  characters?: number;
  /** True if names that differ only in case are the same name. */
  isCaseless?: boolean;
  /** True for a change that removes rights, which no limit refuses. */
  isRevocation?: boolean;
  /** Description for the audit if the name is only an id. */
  label?: string | undefined;
}

/** Reason why a setting cannot be read, and its description for the audit. */
export interface BrokenReason {
  reason: string;
  label: string | undefined;
}

/**
 * Runtime settings by kind and name, offered by the feature `settings`. Instances with one database share them. Values are JSON,
 * checked by the feature that stores them. Methods reject with StoreUnavailable while changes cannot be stored, and with a
 * StoreConflict if `expected` does not contain the current version; 0 stands for no setting.
 */
export interface SettingStore {
  /** Returns the current settings of a kind, oldest first. */
  list<T>(kind: string): RuntimeSetting<T>[];
  find<T>(kind: string, name: string): RuntimeSetting<T> | undefined;
  /**
   * Stores a setting and resolves to it. At a limit, settings of the kind whose `endsAt` (Unix milliseconds) has passed are
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
  /** Deletes a setting; resolves to false if there was none. `label` describes the setting for the audit. */
  delete(kind: string, name: string, by: string, expected?: readonly number[], label?: string): Promise<boolean>;
  /** Replaces the list of settings of a kind that cannot be read, by name, which the feature lists and reports. */
  noteBroken(kind: string, broken: ReadonlyMap<string, BrokenReason>): void;
  /** False until the stored settings were read: a database may be unavailable on startup. */
  isRead(): boolean;
  /** Reads the changes of other instances now. */
  catchUp(): Promise<void>;
  /** Calls the listener after changes, also by other instances, within about a second. */
  onChanged(kind: string, listener: () => void): void;
}

/** Creates the error for a change that expected another version; 0 stands for no setting. */
export const toVersionConflict = (name: string, version: number): StoreConflict =>
  new StoreConflict(
    version === 0 ? `${name} was deleted` : `${name} was changed; its current version is ${version}`,
    version,
  );
