import type { TObject, TSchema } from 'typebox';
import { isFlag, textForm, toFlagName, toVariableName } from '../../config/names.ts';
import type { Feature } from '../../profiles/feature.ts';

/** The program's own settings by group; each feature's settings form a group of their own. */
const groups: Record<string, RegExp> = {
  Network: /^(host|port|cors|allowedHosts|tls.*|trustProxy|.*Timeout|max.*)$/,
  'Profiles and pages': /^(profiles|mounts|publicDir|powershellPath)$/,
  Data: /^(dataDir|seed|store.*|keepSecrets|instanceName|timeZone)$/,
  Security: /^(access|jwt.*|keys)$/,
  Logging: /^log/,
};

/** A setting in the help: how it is given, e.g. `--port N`, and what it does. */
interface SettingText {
  flag?: string;
  /** Stands for the flag's value; switches have none. */
  value?: string;
  /** None if only the config file can hold it. */
  variable?: string;
  /** Its key in the config file. */
  key: string;
  description: string;
}

/** All settings in their groups, in the order of the help. */
export const groupSettings = (
  schema: TObject,
  features: readonly Feature[],
): { title: string; settings: SettingText[] }[] => {
  const isFeatures = (key: string) => features.some(({ settings }) => Object.hasOwn(settings, key));
  const own = Object.entries(schema.properties).filter(([key]) => !isFeatures(key));
  return [
    ...Object.entries(groups).map(([title, keys]) => ({ title, settings: own.filter(([key]) => keys.test(key)) })),
    ...features.map(({ name, settings }) => ({ title: capitalize(name), settings: Object.entries(settings) })),
  ]
    .filter(({ settings }) => settings.length > 0)
    .map(({ title, settings }) => ({ title, settings: settings.map(([key, property]) => toText(key, property)) }));
};

const values = { flag: undefined, integer: 'N', list: 'A,B', string: 'TEXT', none: undefined };

const toText = (key: string, schema: TSchema): SettingText => {
  const form = textForm(schema);
  const value = values[form];
  return {
    key,
    description: describe(schema, toFlagName(key)),
    ...(isFlag(schema) && { flag: `--${toFlagName(key)}`, ...(value && { value }) }),
    ...(form !== 'none' && { variable: toVariableName(key) }),
  };
};

const describe = (schema: TSchema, flag: string): string => {
  const { description = '', enum: choices, default: value } = schema as Record<string, string & string[]>;
  const choice = choices ? ` One of ${choices.join(', ')}.` : '';
  if (textForm(schema) === 'flag') return `${description}${value ? ` On by default; --no-${flag} turns it off.` : ''}`;
  return `${description}${choice}${value === undefined || String(value) === '' ? '' : ` Default ${value}.`}`;
};

const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
