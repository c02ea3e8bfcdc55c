import Type, { type TObject, type TSchema } from 'typebox';
import type { Route } from './route.ts';
import type { RuntimeSetting } from './setting-store.ts';
import { nullable } from './shape.ts';
import { Time, toTimeText } from './time.ts';

/** Limits for the settings of a kind. */
interface SettingLimits {
  /** Maximum number of settings. */
  count: number;
  /** Plural noun in error messages, such as `watches`. */
  plural: string;
  /** Advice in error messages. Default: delete some first. */
  advice?: string;
  /** True if settings in the config file also count. */
  withConfigured?: boolean;
  /** Maximum number of characters in all values as JSON. Default: 4 MiB. */
  characters?: number;
}

/** Error messages of a kind that replace the default messages. The default messages contain the name of the setting. */
interface SettingWords {
  inConfig?(name: string): string;
  isDefault?(name: string): string;
  taken?(name: string): string;
  /** Message for a change that expected a version other than the current `version`. 0 stands for no setting. */
  conflict?(name: string, version: number): string;
}

/** Circumstances under which an entry of the config file is read. */
interface ConfigReading<Known> {
  /** Time at which the entry is read, in Unix milliseconds. 0 on startup. */
  at: number;
  /** Entry as it was before a reload. */
  before: Known | undefined;
}

/** Setting that a request creates or replaces. */
interface Replaced<Stored, Known> {
  name: string;
  /** Stored form of the setting. Present even if the setting is broken. */
  stored: Stored | undefined;
  /** Setting in use. Undefined if the setting is missing or broken. */
  known: Known | undefined;
}

/**
 * Kind of runtime settings. `Stored` is the form in the settings log, and `Known` the form that the feature uses.
 * `Configured` is an entry in the config file, and `Given` a request body.
 */
export interface SettingKind<Stored, Known, Configured = never, Given = Stored> {
  /** Name of the kind in the log, the audit and exports. */
  name: string;
  /** Capitalized noun for messages. */
  noun: string;
  /** Path of the list. The path of each setting is below it. */
  path: string;
  /** Path parameter of a setting: its name or id. */
  params: TObject;
  /** Schema of a setting in responses. */
  shape: TSchema;
  /** Noun in the description of `ETag`. Default: `noun`. */
  versionOf?: string;
  /** Access required to list and read settings. */
  reading: SettingAccess;
  /** Access required to change settings. */
  changing: SettingAccess;
  limits: SettingLimits;
  /** True if names that differ only in case count as the same name. For names that people type or that files have. */
  isCaseless?: boolean;
  /** Order of the list. `origin`: the config file first, then runtime settings, oldest first. `name`: by name. */
  order: 'origin' | 'name';
  /** Throws an HttpError for an invalid name. */
  assertName?(name: string): void;
  /** True for a name reserved by signalbox. */
  isReserved?(name: string): boolean;
  /**
   * Converts a setting to the form that the feature uses. Throws an Error for an unusable setting. A request with such
   * a setting is rejected. If another version has stored it, the setting is listed as broken, with the message as the
   * reason.
   */
  compile(setting: RuntimeSetting<Stored>): Known;
  /** Returns the reason why a compiled setting is broken. For kinds whose lists include broken settings. */
  findProblem?(known: Known): string | undefined;
  /** Converts an entry in the config file. The entry has passed the check of the settings. */
  fromConfig?(configured: Configured, reading: ConfigReading<Known>): Known;
  /**
   * Completes a request body to the stored form, if that depends on the current setting. The current setting cannot
   * change in the meantime. Throws an HttpError if the body is unusable. Without this function, the body itself is
   * stored.
   */
  complete?(given: Given, replaced: Replaced<Stored, Known>): Stored;
  /** Describes a setting for the audit, if its name is only an id. */
  toLabel?(value: Stored): string | undefined;
  /** Message of the 503 that is sent until the database has been read. A 404 would make clients give up. */
  unread?: string;
  words?: SettingWords;
}

type SettingAccess = Pick<Route, 'access' | 'right' | 'changesAccess'>;

/** Defines a kind of runtime settings. `SettingKeeper` stores them, and `createSettingRoutes` serves them. */
export const defineSettingKind = <Stored, Known, Configured = never, Given = Stored>(
  kind: SettingKind<Stored, Known, Configured, Given>,
): SettingKind<Stored, Known, Configured, Given> => kind;

/** Origin of a setting: the config file, or a request at runtime. */
export const settingOrigin = Type.Enum(['config', 'made'], {
  type: 'string',
  description: '`config`: defined in the config file; edit it there. `made`: created while the server was running.',
  examples: ['made'],
});

/** Response members about the last change of a setting. Null for a setting from the config file. */
export const settingFacts = {
  updatedBy: nullable(Type.String({ examples: ['admin'] }), 'Author of the last change; `null` for the config file.'),
  updatedAt: nullable(Time, 'Time of the last change.'),
  version: nullable(Type.Integer({ examples: [12] }), 'Version, also in the `ETag`.'),
};

/** Returns the values for `settingFacts`. Undefined stands for a setting from the config file. */
export const toSettingFacts = (setting: Pick<RuntimeSetting, 'by' | 'at' | 'version'> | undefined) => ({
  updatedBy: setting?.by ?? null,
  updatedAt: setting ? toTimeText(setting.at) : null,
  version: setting?.version ?? null,
});
