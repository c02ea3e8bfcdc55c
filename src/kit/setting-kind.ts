import Type, { type TObject, type TSchema } from 'typebox';
import { nullable, type Route, Time, toTimeText } from './route.ts';
import type { RuntimeSetting } from './setting-store.ts';

/** Limits of the settings of a kind. */
interface SettingLimits {
  /** Maximum number of settings. */
  count: number;
  /** Plural noun in refusals, such as `watches`. */
  plural: string;
  /** Advice in refusals; by default to delete some first. */
  advice?: string;
  /** True if settings of the config file count, too. */
  withConfigured?: boolean;
  /** Maximum characters of all values as JSON; 4 MiB by default. */
  characters?: number;
}

/** Refusals of a kind that replace the default messages, by the name of the setting. */
interface SettingWords {
  inConfig?(name: string): string;
  isDefault?(name: string): string;
  taken?(name: string): string;
  /** Refusal of a change whose expected version is not the current `version`; 0 for no setting. */
  conflict?(name: string, version: number): string;
}

/** Reading of an entry of the config file. */
interface ConfigReading<Known> {
  /** Time of the reading in Unix milliseconds; 0 on startup. */
  at: number;
  /** The entry before a reload. */
  before: Known | undefined;
}

/** Setting that a request creates or replaces. */
interface Replaced<Stored, Known> {
  name: string;
  /** Stored form, even if the setting is broken. */
  stored: Stored | undefined;
  /** Undefined if there is no setting or the setting is broken. */
  known: Known | undefined;
}

/**
 * Kind of runtime settings. `Stored` is the form in the log of settings, `Known` the form that the feature uses, `Configured` an
 * entry of the config file, and `Given` the body of a request.
 */
export interface SettingKind<Stored, Known, Configured = never, Given = Stored> {
  /** Name of the kind in the log, the audit and exports. */
  name: string;
  /** Noun in messages, with a capital letter. */
  noun: string;
  /** Path of the list; each setting has a path below it. */
  path: string;
  /** Parameter in the path of a setting: its name or id. */
  params: TObject;
  /** Schema of a setting in responses. */
  shape: TSchema;
  /** Noun in the description of `ETag`; `noun` by default. */
  versionOf?: string;
  /** Access of callers who may list and read settings. */
  reading: SettingAccess;
  /** Access of callers who may change settings. */
  changing: SettingAccess;
  limits: SettingLimits;
  /** True if names that differ only in case are the same name, because people type them or files have them. */
  isCaseless?: boolean;
  /** Order of lists. `origin`: the config file first, then runtime settings, oldest first. `name`: all by name. */
  order: 'origin' | 'name';
  /** Throws an HttpError for an invalid name. */
  assertName?(name: string): void;
  /** True for a name that signalbox itself uses. */
  isReserved?(name: string): boolean;
  /**
   * Converts a setting to the form that the feature uses. Throws an Error for an unusable setting: a request is refused, and a
   * setting of another version is listed as broken, with this reason.
   */
  compile(setting: RuntimeSetting<Stored>): Known;
  /** Returns the reason why a compiled setting is broken, for a kind that lists broken settings too. */
  findProblem?(known: Known): string | undefined;
  /** Converts an entry of the config file, which the check of the settings has accepted. */
  fromConfig?(configured: Configured, reading: ConfigReading<Known>): Known;
  /**
   * Completes the body of a request to the stored form, if that depends on the current setting, which cannot change meanwhile.
   * Throws an HttpError. Without this, the body is stored.
   */
  complete?(given: Given, replaced: Replaced<Stored, Known>): Stored;
  /** Describes a setting for the audit if its name is only an id. */
  toLabel?(value: Stored): string | undefined;
  /** Message of the 503 until the database was read; a 404 would make clients give up. */
  unread?: string;
  words?: SettingWords;
}

type SettingAccess = Pick<Route, 'access' | 'right' | 'changesAccess'>;

/** Defines a kind of runtime settings; `SettingKeeper` stores them, `createSettingRoutes` serves them. */
export const defineSettingKind = <Stored, Known, Configured = never, Given = Stored>(
  kind: SettingKind<Stored, Known, Configured, Given>,
): SettingKind<Stored, Known, Configured, Given> => kind;

/** Origin of a setting: the config file, or a request at run time. */
export const settingOrigin = Type.Enum(['config', 'made'], {
  type: 'string',
  description: '`config`: defined in the config file; edit it there. `made`: created while the server ran.',
  examples: ['made'],
});

/** Members of responses about the last change of a setting; null for a setting of the config file. */
export const settingFacts = {
  updatedBy: nullable(Type.String({ examples: ['admin'] }), 'Author of the last change; `null` for the config file.'),
  updatedAt: nullable(Time, 'Time of the last change.'),
  version: nullable(Type.Integer({ examples: [12] }), 'Version, also in the `ETag`.'),
};

/** Returns the values of `settingFacts`; undefined stands for a setting of the config file. */
export const toSettingFacts = (setting: Pick<RuntimeSetting, 'by' | 'at' | 'version'> | undefined) => ({
  updatedBy: setting?.by ?? null,
  updatedAt: setting ? toTimeText(setting.at) : null,
  version: setting?.version ?? null,
});
