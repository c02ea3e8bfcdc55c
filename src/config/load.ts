import type { TObject, TSchema } from 'typebox';
import { readJsonFile } from './file.ts';
import { findProblem } from './problems.ts';
import { isFlag, type Settings, textForm, toFlagName, toVariableName } from './schema.ts';
import { SettingsError } from './settings-error.ts';
import { fromText } from './text.ts';

/** Values as given: flags by key in camelCase, a bare flag as `true`. */
export type Flags = Record<string, string | boolean | undefined>;

interface Given {
  value: unknown;
  place: string;
}

/**
 * The settings: flags over `SIGNALBOX_*` variables over the config file over defaults.
 * Throws a SettingsError that lists every problem at once.
 */
export const loadSettings = (schema: TObject, flags: Flags, environment = process.env): Settings => {
  const path = (flags['config'] as string | undefined) ?? (environment['SIGNALBOX_CONFIG'] || undefined);
  const file = path === undefined ? {} : readJsonFile(path, 'config file');
  const unknown = Object.keys(file).filter(
    (key) => !Object.hasOwn(schema.properties, key) && key !== '$schema',
  );
  const problems = unknown.map((key) => `${path} has no setting called ${JSON.stringify(key)}`);
  const settings: Record<string, unknown> = {};
  for (const [key, property] of Object.entries(schema.properties)) {
    const given =
      givenFlag(key, property, flags) ??
      givenVariable(key, property, environment) ??
      givenInFile(key, file, path);
    const problem = given && findProblem(property, given.value, given.place);
    if (problem) problems.push(problem);
    const value = given ? given.value : (property as { default?: unknown }).default;
    if (value !== undefined) settings[key] = value;
  }
  if (problems.length > 0) throw new SettingsError(problems);
  return settings as Settings;
};

const givenFlag = (key: string, schema: TSchema, flags: Flags): Given | undefined => {
  const value = flags[key];
  if (value === undefined || !isFlag(schema)) return undefined;
  return {
    value: typeof value === 'string' ? fromText(schema, value) : value,
    place: `--${toFlagName(key)}`,
  };
};

const givenVariable = (key: string, schema: TSchema, environment: NodeJS.ProcessEnv): Given | undefined => {
  const name = toVariableName(key);
  const text = environment[name];
  if (text === undefined || text === '' || textForm(schema) === 'none') return undefined;
  return { value: fromText(schema, text), place: name };
};

const givenInFile = (key: string, file: Record<string, unknown>, path?: string): Given | undefined =>
  Object.hasOwn(file, key) ? { value: file[key], place: `${key} in ${path}` } : undefined;
