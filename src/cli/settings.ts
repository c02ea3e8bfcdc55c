import { basePath, listNames } from '../app/mounts.ts';
import { createSettingsSchema } from '../config/schema.ts';
import { features } from '../profiles/index.ts';
import { listSettingFlags } from './setting-flags.ts';

/** All settings, those of features too. */
export const schema = createSettingsSchema(features.map(({ settings }) => settings));

export const settingFlags = listSettingFlags(schema);

/** Rules for mounts in the config file. */
export const mountRules = { profiles: listNames(features.flatMap((feature) => feature.profiles)), basePath };
