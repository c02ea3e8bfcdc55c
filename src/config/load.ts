import type { TObject, TSchema } from 'typebox';
import { findWriteProblem, listExposures } from './exposure.ts';
import { readJsonFile } from './file.ts';
import { findProblems } from './problems.ts';
import { fromText, isFlag, type Settings, textForm, toFlagName, toVariableName } from './schema.ts';
import { assertNoProblems, SettingsError } from './settings-error.ts';
import { suggest } from './suggest.ts';

/** Flags by key in camelCase; a bare flag is `true`. */
export type Flags = Record<string, string | boolean | undefined>;

/**
 * Reads the settings: flags win over `SIGNALBOX_*` variables, these over the config file, the file over defaults. `warn`
 * receives warnings about the file and unknown variables. Throws a SettingsError that lists every problem, with those that `check` finds in
 * the other settings when some values do not fit.
 */
export const loadSettings = (
  schema: TObject,
  flags: Flags,
  environment = process.env,
  warn: (warning: string) => void = () => undefined,
  check: (settings: Settings) => unknown = () => undefined,
): Settings => {
  const { path, file, isRead, problems } = readConfigFile(schema, flags, environment);
  const settings: Record<string, unknown> = {};
  const leftOut: string[] = [];
  for (const [key, property] of Object.entries(schema.properties)) {
    const given = findGiven(key, property, { flags, environment, file, path });
    const unfit = given ? findProblems(property, given.value, given.place) : [];
    problems.push(...unfit);
    if (unfit.length > 0) leftOut.push(key);
    const value = given && unfit.length === 0 ? given.value : (property as { default?: unknown }).default;
    if (value !== undefined) settings[key] = value;
  }
  problems.push(...findUnreadVariables(schema, environment));
  // Without the file, its other settings would only seem to be missing.
  if (problems.length > 0 && isRead) problems.push(...listFurther(() => check(settings as Settings), leftOut));
  assertNoProblems(problems);
  listUnknownVariables(schema, environment).forEach(warn);
  if (path !== undefined) listExposures(path, hasSecrets(schema, file)).forEach(warn);
  return settings as Settings;
};

/** What `check` finds, without problems that name a setting whose value was left out: they may be none. */
const listFurther = (check: () => unknown, leftOut: readonly string[]): string[] => {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.problems.filter((problem) => !leftOut.some((key) => new RegExp(`\\b${key}\\b`).test(problem)));
  }
};

interface ConfigFile {
  path: string | undefined;
  file: Record<string, unknown>;
  /** False if a file is named but cannot be used. */
  isRead: boolean;
  problems: string[];
}

interface Sources extends Pick<ConfigFile, 'path' | 'file'> {
  flags: Flags;
  environment: NodeJS.ProcessEnv;
}

/** The config file's values, and the problems of the file as a whole. */
const readConfigFile = (schema: TObject, flags: Flags, environment: NodeJS.ProcessEnv): ConfigFile => {
  const path = (flags['config'] as string | undefined) ?? (environment['SIGNALBOX_CONFIG'] || undefined);
  if (path === undefined) return { path, file: {}, isRead: true, problems: [] };
  if (path === '') return { path: undefined, file: {}, isRead: false, problems: ['--config must name a file, not ""'] };
  try {
    const file = readJsonFile(path, 'config file');
    const unknown = Object.keys(file).filter((key) => !Object.hasOwn(schema.properties, key) && key !== '$schema');
    const keys = Object.keys(schema.properties);
    const problems = unknown.map(
      (key) => `${path} has no setting called ${JSON.stringify(key)}${suggest(key, keys, '"')}`,
    );
    const problem = findWriteProblem(path);
    return { path, file, isRead: true, problems: problem === undefined ? problems : [problem, ...problems] };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { path, file: {}, isRead: false, problems: [...error.problems] };
  }
};

const hasSecrets = (schema: TObject, file: Record<string, unknown>): boolean =>
  Object.entries(schema.properties).some(([key, property]) => 'secret' in property && Object.hasOwn(file, key));

/** Variables for settings that only a file can hold: without this they would be silently ignored. */
const findUnreadVariables = (schema: TObject, environment: NodeJS.ProcessEnv): string[] =>
  Object.entries(schema.properties)
    .filter(([key, property]) => textForm(property) === 'none' && environment[toVariableName(key)])
    .map(([key]) => `${toVariableName(key)} has no effect: ${key} is a key of the config file alone`);

/** Windows reads variables in any case. */
const isWindows = process.platform === 'win32';

/** Warnings about `SIGNALBOX_*` variables that are no setting's: a misspelt password would otherwise be a random one. */
const listUnknownVariables = (schema: TObject, environment: NodeJS.ProcessEnv): string[] => {
  const known = ['SIGNALBOX_CONFIG', ...Object.keys(schema.properties).map(toVariableName)];
  return Object.keys(environment)
    .filter((name) => /^SIGNALBOX_/i.test(name) && !known.includes(isWindows ? name.toUpperCase() : name))
    .map((name) => `the variable ${name} is not a setting and is ignored${suggest(name, known)}`);
};

/** The first value among flag, variable and file. */
const findGiven = (key: string, schema: TSchema, { flags, environment, file, path }: Sources) => {
  const flag = isFlag(schema) ? flags[key] : undefined;
  if (flag !== undefined) {
    const value = typeof flag === 'string' ? fromText(schema, flag) : flag;
    return { value, place: `--${toFlagName(key)}` };
  }
  const variable = toVariableName(key);
  const text = textForm(schema) === 'none' ? undefined : environment[variable];
  if (text) return { value: fromText(schema, text), place: variable };
  return Object.hasOwn(file, key) ? { value: file[key], place: `${key} in ${path}` } : undefined;
};
