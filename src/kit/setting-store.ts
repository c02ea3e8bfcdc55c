import { StoreConflict } from '../lib/expected-errors.ts';

/** Setting that was created or changed while the server was running. */
export interface RuntimeSetting<T = unknown> {
  name: string;
  value: T;
  /** Version. It is new after each change, even if the setting is deleted and created again. */
  version: number;
  /** Author of the last change. */
  by: string;
  /** Time of the last change, in Unix milliseconds. */
  at: number;
  /** Time of creation, in Unix milliseconds. */
  createdAt: number;
}

/** Limits for the settings of a kind. Concurrent changes cannot exceed them. */
export interface PutOptions {
  /**
   * Maximum number of settings, with the plural noun and the advice for the error message. Default advice: delete some
   * first.
   */
  limit?: { count: number; plural: string; advice?: string };
  /** Maximum number of characters in all values as JSON. Default: 4 MiB. */
  characters?: number;
  /** True if names that differ only in case count as the same name. */
  isCaseless?: boolean;
  /** True for a change that removes rights and is therefore exempt from limits. */
  isRevocation?: boolean;
  /** Description for the audit, if the name is only an id. */
  label?: string | undefined;
}

/** Reason why a setting cannot be read, and the setting's description for the audit. */
export interface BrokenReason {
  reason: string;
  label: string | undefined;
}

/**
 * Runtime settings by kind and name. The feature `settings` offers them, and instances with one database share them.
 * Values are JSON that the feature storing them has checked. Methods reject with StoreUnavailable while changes cannot
 * be stored, and with a StoreConflict if `expected` does not contain the current version. 0 stands for no setting.
 */
export interface SettingStore {
  /** Returns the current settings of a kind, oldest first. */
  list<T>(kind: string): RuntimeSetting<T>[];
  find<T>(kind: string, name: string): RuntimeSetting<T> | undefined;
  /**
   * Stores a setting and returns it. At a limit, first removes settings of the kind whose `endsAt` (Unix milliseconds)
   * has passed. Rejects with an HttpError if the limit would still be exceeded.
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
  /** Replaces the list of unreadable settings of a kind, by name. The feature `settings` lists and reports them. */
  noteBroken(kind: string, broken: ReadonlyMap<string, BrokenReason>): void;
  /** False until the stored settings have been read. A database may be unavailable at startup. */
  isRead(): boolean;
  /** Reads changes made by other instances immediately. */
  catchUp(): Promise<void>;
  /** Calls the listener after changes. For changes by other instances, it is called within about a second. */
  onChanged(kind: string, listener: () => void): void;
}

/** Creates the error for a change that expected another version. 0 stands for no setting. */
export const toVersionConflict = (name: string, version: number): StoreConflict =>
  new StoreConflict(
    version === 0 ? `${name} was deleted` : `${name} was changed; its current version is ${version}`,
    version,
  );
