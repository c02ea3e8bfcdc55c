import { needs } from '../../auth/access.ts';
import { HttpError } from '../../http/errors.ts';
import type { SettingKeeper } from '../../kit/setting-keeper.ts';
import { defineSettingKind } from '../../kit/setting-kind.ts';
import type { RuntimeSetting } from '../../kit/setting-store.ts';
import { type KnownWatch, toKnownWatch } from './known-watch.ts';
import { Watch, WatchParams, type WatchSettings } from './schema.ts';
import { findStoredProblem, isConfigOnly } from './watch-problems.ts';
import { keepWatchSecrets } from './watch-secrets.ts';

/** @throws Error if the watch is invalid */
const compile = (setting: RuntimeSetting<WatchSettings>): KnownWatch => {
  const problem = findStoredProblem(setting.value);
  if (problem !== undefined) throw new Error(problem);
  const known = toKnownWatch(setting.value, 'made', setting);
  // An import may contain any setting.
  assertWithoutFiles(known);
  return known;
};

/** Refuses a watch that reads files or runs programs. Throws an HttpError for such a watch. */
export const assertWithoutFiles = ({ settings }: KnownWatch): void => {
  if (!isConfigOnly(settings)) return;
  throw new HttpError('invalid', 'watches of files and programs can be defined only in the config file, in watches');
};

/**
 * Kind of setting for watches: watches from the config file, runtime watches, and default watches. A default watch
 * exists only if its name is not used by another watch.
 */
export const watchKind = defineSettingKind<WatchSettings, KnownWatch, WatchSettings>({
  name: 'watch',
  noun: 'Watch',
  path: '/api/watches',
  params: WatchParams,
  shape: Watch,
  reading: needs('watches:read'),
  changing: needs('settings:write'),
  limits: { count: 1000, plural: 'watches' },
  order: 'origin',
  compile,
  fromConfig: (settings) => toKnownWatch(settings, 'config'),
  complete: (given, { known }) => keepWatchSecrets(given, known?.settings),
  words: {
    inConfig: (name) => `Watch ${name} is defined in the config file: edit it there`,
    isDefault: (name) => `${name} is a default watch: to replace the watch, create a watch with the same name`,
    taken: (name) => `There is already a watch ${name}: choose another name`,
  },
});

export type WatchKeeper = SettingKeeper<WatchSettings, KnownWatch, WatchSettings>;
