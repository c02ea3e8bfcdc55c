import Type, { type TObject, type TSchema } from 'typebox';
import { nullable, type Route, Time, toTimeText } from './route.ts';
import type { RuntimeSetting } from './setting-store.ts';

/** How many settings of a kind there can be, whoever asks for them and however many at once. */
interface SettingLimits {
  count: number;
  /** Refusals call many of them so: `watches`. */
  plural: string;
  /** Refusals advise that; by default to delete some first. */
  advice?: string;
  /** Those of the config file count, too. */
  withConfigured?: boolean;
  /** The most characters of all their values as JSON; 4 MiB by default. */
  characters?: number;
}

/** Refusals of one setting, by its name, where a kind words them otherwise than most. */
interface SettingWords {
  inConfig?(name: string): string;
  isDefault?(name: string): string;
  taken?(name: string): string;
  /** There is another version than expected; 0 stands for none. */
  conflict?(name: string, version: number): string;
}

/** When the config file was read: Unix milliseconds, or 0 on startup; and what was known of the entry before. */
interface ConfigReading<Known> {
  at: number;
  before: Known | undefined;
}

/** What is known when a request to create or replace a setting arrives. */
interface Replaced<Stored, Known> {
  name: string;
  /** As it is stored, also where it cannot be used. */
  stored: Stored | undefined;
  /** Undefined where there is none, or one that cannot be read. */
  known: Known | undefined;
}

/**
 * One kind of settings that people make at run time. `Stored` is the form in the log of settings, `Known` what the feature
 * uses, `Configured` an entry of the config file, and `Given` what a request says one shall be.
 */
export interface SettingKind<Stored, Known, Configured = never, Given = Stored> {
  /** As the log, the audit and exports have it. */
  name: string;
  /** Messages call one so, with a capital letter. */
  noun: string;
  /** Where all are listed; each has a path below it. */
  path: string;
  /** One parameter: the name, or id, in the path of each. */
  params: TObject;
  /** How one is shown. */
  shape: TSchema;
  /** The document says that an `ETag` is the version of this; by default of the noun. */
  versionOf?: string;
  /** Callers who may list and read them, and callers who may change them. */
  reading: SettingAccess;
  changing: SettingAccess;
  limits: SettingLimits;
  /** Names that differ only in capitals are the same, since they are parts of file names, or people type them. */
  isCaseless?: boolean;
  /** Lists have those of the config file first, then those made at run time, the oldest first; or all by name. */
  order: 'origin' | 'name';
  /** Refuses names that none can have. @throws HttpError */
  assertName?(name: string): void;
  /** Names that signalbox itself uses. */
  isReserved?(name: string): boolean;
  /**
   * What the feature uses. Throws an Error for one that cannot be used: a request for it is refused, and one that another
   * version has stored is listed as broken, with this reason.
   */
  compile(setting: RuntimeSetting<Stored>): Known;
  /** Why one that is listed all the same cannot be read. */
  findProblem?(known: Known): string | undefined;
  /** An entry of the config file, which the check of the settings has found to be usable. */
  fromConfig?(configured: Configured, reading: ConfigReading<Known>): Known;
  /**
   * What is stored of what a request gives, where that depends on the known one: it is read before, and nobody changes it
   * meanwhile. Without this, what is given is stored. @throws HttpError
   */
  complete?(given: Given, replaced: Replaced<Stored, Known>): Stored;
  /** Describes one for the audit, whose name is only an id. */
  toLabel?(value: Stored): string | undefined;
  /** Says, until a database was read, that one is not known yet: the 404 of others would make its clients give up. */
  unread?: string;
  words?: SettingWords;
}

type SettingAccess = Pick<Route, 'access' | 'right' | 'changesAccess'>;

/** Defines a kind of settings that people make at run time; `SettingKeeper` keeps them, `createSettingRoutes` serves them. */
export const defineSettingKind = <Stored, Known, Configured = never, Given = Stored>(
  kind: SettingKind<Stored, Known, Configured, Given>,
): SettingKind<Stored, Known, Configured, Given> => kind;

/** Where a setting comes from, which the config file or somebody at run time may have defined. */
export const settingOrigin = Type.Enum(['config', 'made'], {
  type: 'string',
  description: '`config`: in the config file, where it is changed.',
  examples: ['made'],
});

/** What routes say of who has changed a setting last; null for one of the config file. */
export const settingFacts = {
  updatedBy: nullable(Type.String({ examples: ['admin'] }), 'Who has changed it last; `null` in the config file.'),
  updatedAt: nullable(Time, 'When that was.'),
  version: nullable(Type.Integer({ examples: [12] }), 'Its version, as the `ETag` has it.'),
};

/** The values of `settingFacts`; undefined stands for a setting of the config file. */
export const toSettingFacts = (setting: Pick<RuntimeSetting, 'by' | 'at' | 'version'> | undefined) => ({
  updatedBy: setting?.by ?? null,
  updatedAt: setting ? toTimeText(setting.at) : null,
  version: setting?.version ?? null,
});
