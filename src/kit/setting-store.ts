/** A setting that somebody has made at run time. */
export interface RuntimeSetting<T = unknown> {
  name: string;
  value: T;
  /** Another one after each change, also where the setting was deleted and made again. */
  version: number;
  /** Who has changed it last, and when, in Unix milliseconds. */
  by: string;
  at: number;
  createdAt: number;
}

/** Bounds of the settings of a kind, which hold however many changes come at once, and what a change may do in spite of them. */
export interface PutOptions {
  /** How many there can be, and how the refusal of one more calls them and what it advises; by default to delete some. */
  most?: { count: number; plural: string; advice?: string };
  /** The most characters of all their values as JSON; 4 MiB by default. */
  characters?: number;
  /** Names that differ only in capitals are the same. */
  isCaseless?: boolean;
  /** Takes rights away: such a change is never refused for want of room. */
  isRevocation?: boolean;
  /** What the audit calls it, where its name is only an id. */
  label?: string | undefined;
}

/** Why a setting cannot be read, and what the audit calls it. */
export interface BrokenReason {
  reason: string;
  label: string | undefined;
}

/**
 * What the settings feature offers: settings made at run time, by kind and name; shared by all instances where they share a
 * database. Values are JSON, and checked by the feature that puts them. Methods reject with StoreUnavailable while changes
 * cannot be stored, and with a StoreConflict unless the version is expected; 0 stands for none.
 */
export interface SettingStore {
  /** The current ones, oldest first. */
  list<T>(kind: string): RuntimeSetting<T>[];
  find<T>(kind: string, name: string): RuntimeSetting<T> | undefined;
  /**
   * Resolves, once it is stored, to the setting as it is then. Settings of the kind whose values have an `endsAt` in the past,
   * in Unix milliseconds, give way to it. Rejects with an HttpError where there is no room.
   */
  put<T>(
    kind: string,
    name: string,
    value: T,
    by: string,
    expected?: readonly number[],
    options?: PutOptions,
  ): Promise<RuntimeSetting<T>>;
  /** Resolves to whether there was one; `label` is what the audit calls it, where its name is only an id. */
  delete(kind: string, name: string, by: string, expected?: readonly number[], label?: string): Promise<boolean>;
  /** Replaces the reasons why settings of a kind cannot be read, by name: they stay stored, and are listed and reported. */
  noteBroken(kind: string, broken: ReadonlyMap<string, BrokenReason>): void;
  /** False until what is stored was read, since a database may be away on startup. */
  isRead(): boolean;
  /** Learns now what other instances have changed. */
  catchUp(): Promise<void>;
  /** Also tells of changes of other instances, within about a second. */
  onChanged(kind: string, listener: () => void): void;
}
