import type { TObject } from 'typebox';
import { toFormerProperties } from '../config/former.ts';
import { isFlag, textForm } from '../config/names.ts';
import { createSettingsSchema } from '../config/schema.ts';
import type { KnownFlag } from './args.ts';

const types = { flag: 'switch', integer: 'number', list: 'text', string: 'text', none: 'text' } as const;

/** `--config`, and the flags of all settings that have one, under their former names too. */
export const listSettingFlags = (schema: TObject): KnownFlag[] => [
  { key: 'config', type: 'text' },
  ...Object.entries({ ...schema.properties, ...toFormerProperties(schema.properties) })
    .filter(([, property]) => isFlag(property))
    .map(([key, property]) => ({ key, type: types[textForm(property)] })),
];

/** `--config`, and the flags of some of the program's own settings; loads no feature. */
export const pickSettingFlags = (keys: readonly string[]): KnownFlag[] =>
  listSettingFlags(createSettingsSchema([])).filter(({ key }) => ['config', ...keys].includes(key));
