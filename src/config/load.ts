import type { TObject, TSchema } from 'typebox';
import { findWriteProblem, listExposures } from './exposure.ts';
import { readJsonFile } from './file.ts';
import { formerAccessSettings, type Given, mergeFormerAccess } from './former-access.ts';
import { useCurrentNames } from './former-names.ts';
import { otherVariables, toFlagName, toVariableName } from './names.ts';
import { findProblems } from './problems.ts';
import { fromText, isFlag, isSecret, type Settings, textForm, toFormerProperties } from './schema.ts';
import { assertNoProblems, problemsOf, SettingsError } from './settings-error.ts';
import { suggest } from './suggest.ts';

/** Flags by key in camelCase; a bare flag is `true`. */
export type Flags = Record<string, string | boolean | undefined>;

/**
 * Reads the settings: flags override `SIGNALBOX_*` variables, variables override the config file. `warn` receives
 * warnings about the file and unknown variables. Throws a SettingsError that lists every problem; if some values are
 * not valid, it includes what `check` finds in the other settings.
 */
export const loadSettings = (
  schema: TObject,
  givenFlags: Flags,
  givenEnvironment = process.env,
  warn: (warning: string) => void = () => undefined,
  check: (settings: Settings) => unknown = () => undefined,
): Settings => {
  const { path, isRead, problems, ...config } = readConfigFile(schema, givenFlags, givenEnvironment);
  const given = useCurrentNames({ flags: givenFlags, environment: givenEnvironment, file: config.file, path });
  const { environment, file } = given;
  const sources = { ...given, path };
  const { settings, invalid, found } = readValues(schema, Object.keys(schema.properties), sources);
  const access = readAccess(schema, settings, sources, invalid.includes('access'));
  problems.push(...given.problems, ...found, ...access.problems);
  problems.push(...findFileOnlyVariables(schema, environment));
  // Not if the file is unreadable: its settings would wrongly look missing.
  if (problems.length > 0 && isRead) problems.push(...listCheckProblems(() => check(settings), invalid));
  const unknown = listUnknownVariables(schema, environment);
  if (problems.length > 0) throw new SettingsError([...problems, ...unknown]);
  [...given.warnings, ...access.warnings, ...unknown].forEach(warn);
  if (path !== undefined) listExposures(path, hasSecrets(schema, file)).forEach(warn);
  return settings;
};

/** Reads only these settings, whatever the others are. Throws a SettingsError. */
export const loadSomeSettings = (
  schema: TObject,
  keys: readonly string[],
  flags: Flags,
  environment = process.env,
): Settings => {
  const path = findConfigPath(flags, environment);
  const file = path === undefined ? {} : readJsonFile(path, 'config file');
  const { settings, found } = readValues(schema, keys, {
    ...useCurrentNames({ flags, environment, file, path }),
    path,
  });
  assertNoProblems(found);
  return settings;
};

/** The values of these settings, or their defaults; and which are invalid, with the problems found. */
const readValues = (schema: TObject, keys: readonly string[], sources: Sources) => {
  const settings: Record<string, unknown> = {};
  const invalid: string[] = [];
  const found: string[] = [];
  for (const key of keys) {
    const property = schema.properties[key] as TSchema & { default?: unknown };
    const given = findGiven(key, property, sources);
    const problems = given ? [...findProblems(property, given.value, given.place), ...findShownSecret(key, given)] : [];
    found.push(...problems);
    if (problems.length > 0) invalid.push(key);
    const value = given && problems.length === 0 ? given.value : property.default;
    if (value !== undefined) settings[key] = value;
  }
  return { settings: settings as Settings, invalid, found };
};

/** A password in an address on the command line, which every account can read. */
const findShownSecret = (key: string, { value, place }: Given): string[] =>
  key === 'store' && place.startsWith('--') && hasPassword(String(value))
    ? [`${place} must not hold a password, which every account can read there: set ${toVariableName(key)} instead`]
    : [];

/** `scheme://user:password@host`, or a parameter `password`. */
const hasPassword = (address: string): boolean =>
  /^\w+:\/\/[^@/?#]*:[^@/]*@/.test(address) || /[?&]password=/i.test(address);

/** Adds what the settings that `access` has replaced say to it. */
const readAccess = (schema: TObject, settings: Settings, sources: Sources, isInvalid: boolean) => {
  const isGiven = !isInvalid && findGiven('access', schema.properties['access'] as TSchema, sources) !== undefined;
  const findValid = (key: string) => {
    const given = findGiven(key, formerAccessSettings[key] as TSchema, sources);
    const problems = given ? findProblems(formerAccessSettings[key] as TSchema, given.value, given.place) : [];
    invalid.push(...problems);
    return problems.length === 0 ? given : undefined;
  };
  const invalid: string[] = [];
  const { access, warnings, problems } = mergeFormerAccess(isGiven ? settings.access : undefined, findValid);
  if (access !== undefined) settings.access = access;
  return { warnings, problems: [...invalid, ...problems] };
};

/** What `check` finds, except problems that name an invalid setting: fixing its value may solve them. */
const listCheckProblems = (check: () => unknown, invalid: readonly string[]): string[] =>
  problemsOf(check).filter((problem) => !invalid.some((key) => new RegExp(`\\b${key}\\b`).test(problem)));

interface ConfigFile {
  path: string | undefined;
  file: Record<string, unknown>;
  /** False if a config file is given but cannot be read. */
  isRead: boolean;
  problems: string[];
}

interface Sources extends Pick<ConfigFile, 'path' | 'file'> {
  flags: Flags;
  environment: NodeJS.ProcessEnv;
}

const findConfigPath = (flags: Flags, environment: NodeJS.ProcessEnv): string | undefined =>
  (flags['config'] as string | undefined) ?? (environment[otherVariables.config] || undefined);

/** The config file's values, and the problems of the file as a whole. */
const readConfigFile = (schema: TObject, flags: Flags, environment: NodeJS.ProcessEnv): ConfigFile => {
  const path = findConfigPath(flags, environment);
  if (path === undefined) return { path, file: {}, isRead: true, problems: [] };
  if (path === '') return { path: undefined, file: {}, isRead: false, problems: ['--config must name a file, not ""'] };
  try {
    const file = readJsonFile(path, 'config file');
    const known = { $schema: '', ...toFormerProperties(schema.properties), ...schema.properties };
    const unknown = Object.keys(file).filter((key) => !Object.hasOwn(known, key));
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
  Object.entries(schema.properties).some(([key, property]) => isSecret(property) && Object.hasOwn(file, key));

/** Variables for settings that only the config file can hold: they would be silently ignored. */
const findFileOnlyVariables = (schema: TObject, environment: NodeJS.ProcessEnv): string[] =>
  Object.entries(schema.properties)
    .filter(([key, property]) => textForm(property) === 'none' && environment[toVariableName(key)])
    .map(([key]) => `${toVariableName(key)} has no effect: set ${key} in the config file`);

/** Names of variables are case-insensitive on Windows. */
const isWindows = process.platform === 'win32';

/** Warnings about `SIGNALBOX_*` variables without a setting, e.g. a misspelt password, which would then be random. */
export const listUnknownVariables = (schema: TObject, environment = process.env): string[] => {
  const names = [...Object.values(otherVariables), ...Object.keys(schema.properties).map(toVariableName)];
  const known = [...names, ...Object.keys(toFormerProperties(schema.properties)).map(toVariableName)];
  return Object.keys(environment)
    .filter((name) => /^SIGNALBOX_/i.test(name) && !known.includes(isWindows ? name.toUpperCase() : name))
    .map((name) => `the variable ${name} is not a setting and is ignored${suggest(name, names)}`);
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
