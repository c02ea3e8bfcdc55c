import Type, { type Static } from 'typebox';
import { needs } from '../../../../auth/access.ts';
import { HttpError } from '../../../../http/errors.ts';
import type { SettingKeeper } from '../../../../kit/setting-keeper.ts';
import { defineSettingKind, settingFacts, settingOrigin, toSettingFacts } from '../../../../kit/setting-kind.ts';
import type { RuntimeSetting } from '../../../../kit/setting-store.ts';
import { defineShape } from '../../../../kit/shape.ts';
import { createSchemaCheck } from '../../../../lib/schema-validation.ts';
import type { Format } from '../format.ts';
import { compileFormat } from './compile.ts';
import {
  assertFormatName,
  FormatDefinition,
  FormatName,
  type IntakeSettings,
  isTaken,
  maxFormats,
} from './definition.ts';

type ConfiguredFormat = IntakeSettings['intake'][number];

/** Custom format. `setting` is undefined for a format from the config file. */
export interface KnownFormat {
  name: string;
  definition: FormatDefinition;
  format: Format;
  setting: RuntimeSetting<FormatDefinition> | undefined;
}

export type FormatKeeper = SettingKeeper<FormatDefinition, KnownFormat, ConfiguredFormat>;

export const FormatParams = Type.Object({
  intakeFormat: Type.String({ description: 'Name of an intake format.', examples: ['gitlab'] }),
});

export const ShownFormat = defineShape('IntakeFormat', {
  name: FormatName,
  origin: settingOrigin,
  definition: FormatDefinition,
  ...settingFacts,
});
type ShownFormat = Static<typeof ShownFormat>;

export const toShownFormat = ({ name, definition, setting }: KnownFormat): ShownFormat => ({
  name,
  origin: setting ? 'made' : 'config',
  definition,
  ...toSettingFacts(setting),
});

/** Compiles a format from a request. Throws an HttpError if the definition is invalid. */
export const tryFormat = (name: string, definition: FormatDefinition): Format => {
  assertFormatName(name);
  try {
    return compileFormat(name, definition);
  } catch (error) {
    throw new HttpError('invalid', (error as Error).message);
  }
};

const isDefinition = createSchemaCheck(FormatDefinition);

/**
 * Compiles a stored format. Throws an Error if this version has a built-in format of the same name or cannot use the
 * format.
 */
const compile = (setting: RuntimeSetting<FormatDefinition>): KnownFormat => {
  const { name, value: definition } = setting;
  if (isTaken(name)) throw new Error(`${name} is a built-in format`);
  if (!isDefinition(definition)) throw new Error('the stored value is not a format definition');
  return { name, definition, setting, format: tryFormat(name, definition) };
};

/** Kind of runtime setting for custom alert formats. */
export const formatKind = defineSettingKind<FormatDefinition, KnownFormat, ConfiguredFormat>({
  name: 'intake',
  noun: 'Format',
  path: '/api/intake-formats',
  params: FormatParams,
  shape: ShownFormat,
  reading: needs('settings:read'),
  changing: needs('settings:write'),
  limits: { count: maxFormats, plural: 'formats', withConfigured: true },
  order: 'name',
  assertName: assertFormatName,
  isReserved: isTaken,
  compile,
  fromConfig: ({ name, ...definition }) => ({
    name,
    definition,
    setting: undefined,
    format: compileFormat(name, definition),
  }),
  // Some senders give up after a 404.
  unread: 'The formats cannot be read yet; try again in a second',
});
