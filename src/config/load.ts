import type { TObject, TSchema, TUnion } from 'typebox';
import { describeSchemaErrors, listSchemaErrors, type SchemaError } from '../lib/schema-validation.ts';
import { findWriteProblem, listFileWarnings } from './file-modes.ts';
import { readJsonFile } from './json-file.ts';
import {
  fromText,
  isFlag,
  isSecretSetting,
  otherVariables,
  suggest,
  textForm,
  toFlagName,
  toVariableName,
} from './names.ts';
import { patternNames, type Settings } from './schema.ts';
import { assertNoProblems, problemsOf, SettingsError } from './settings-error.ts';
import {
  type Findings,
  type GivenSetting,
  mergeReplacedAccess,
  type Sources,
  toFormerProperties,
  useCurrentNames,
} from './upgrade.ts';

/** Flags by key in camelCase. A flag without a value is `true`. */
export type Flags = Sources['flags'];

/**
 * Reads the settings. Flags override `SIGNALBOX_*` variables, and these override the config file. `warn` receives
 * warnings about the file and about unknown variables. `check` runs on the valid settings even if others are invalid.
 * Throws a SettingsError that lists every problem.
 */
export const loadSettings = (
  schema: TObject,
  flags: Flags,
  environment = process.env,
  warn: (warning: string) => void = () => undefined,
  check: (settings: Settings) => unknown = () => undefined,
): Settings => {
  const findings: Findings = { problems: [], warnings: [] };
  const { problems, warnings } = findings;
  const { path, file, isRead } = readConfigFile(schema, flags, environment, problems);
  const sources = useCurrentNames({ flags, environment, file, path }, findings);
  const { settings, invalid } = readValues(schema, Object.keys(schema.properties), sources, problems);
  addReplacedAccess(schema, settings, sources, invalid.includes('access'), findings);
  problems.push(...findFileOnlyVariables(schema, environment));
  // Skipped if the file is unreadable, because its settings would then wrongly seem to be missing.
  if (problems.length > 0 && isRead) problems.push(...listCheckProblems(() => check(settings), invalid));
  const unknown = listUnknownVariables(schema, environment);
  if (problems.length > 0) throw new SettingsError([...problems, ...unknown]);
  [...warnings, ...unknown].forEach(warn);
  if (path !== undefined) listFileWarnings(path, hasSecrets(schema, file)).forEach(warn);
  return settings;
};

/** Reads only these settings and ignores all others. Throws a SettingsError if any is invalid. */
export const loadSomeSettings = (schema: TObject, keys: readonly string[], flags: Flags): Settings => {
  const environment = process.env;
  const path = findConfigPath(flags, environment);
  const file = path === undefined ? {} : readJsonFile(path, 'config file');
  const problems: string[] = [];
  const { settings } = readValues(schema, keys, useCurrentNames({ flags, environment, file, path }), problems);
  assertNoProblems(problems);
  return settings;
};

/**
 * Returns warnings about `SIGNALBOX_*` variables that match no setting. With a misspelt password variable, for example,
 * the password would remain random.
 */
export const listUnknownVariables = (schema: TObject, environment = process.env): string[] => {
  const names = [...Object.values(otherVariables), ...Object.keys(schema.properties).map(toVariableName)];
  const known = [...names, ...Object.keys(toFormerProperties(schema.properties)).map(toVariableName)];
  // Variable names are case-insensitive on Windows.
  const toKnown = (name: string) => (process.platform === 'win32' ? name.toUpperCase() : name);
  return Object.keys(environment)
    .filter((name) => /^SIGNALBOX_/i.test(name) && !known.includes(toKnown(name)))
    .map((name) => `the variable ${name} is not a setting and is ignored${suggest(name, names)}`);
};

/** Returns the path of the config file, from `--config` or its variable. */
export const findConfigPath = (flags: Flags, environment: NodeJS.ProcessEnv): string | undefined =>
  (flags['config'] as string | undefined) ?? (environment[otherVariables.config] || undefined);

/**
 * Reads the values in the config file and adds problems with the file as a whole. `isRead` is false if the file cannot
 * be read.
 */
const readConfigFile = (schema: TObject, flags: Flags, environment: NodeJS.ProcessEnv, problems: string[]) => {
  const path = findConfigPath(flags, environment);
  if (path === undefined) return { path, file: {}, isRead: true };
  if (path === '') {
    problems.push('--config must name a file, not ""');
    return { path: undefined, file: {}, isRead: false };
  }
  try {
    const file = readJsonFile(path, 'config file');
    const problem = findWriteProblem(path);
    if (problem !== undefined) problems.push(problem);
    const keys = Object.keys(schema.properties);
    const known = new Set(['$schema', ...keys, ...Object.keys(toFormerProperties(schema.properties))]);
    for (const key of Object.keys(file).filter((one) => !known.has(one))) {
      problems.push(`${path} has no setting called ${JSON.stringify(key)}${suggest(key, keys, '"')}`);
    }
    return { path, file, isRead: true };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    problems.push(...error.problems);
    return { path, file: {}, isRead: false };
  }
};

const hasSecrets = (schema: TObject, file: Record<string, unknown>): boolean =>
  Object.entries(schema.properties).some(([key, property]) => isSecretSetting(property) && Object.hasOwn(file, key));

/**
 * Returns the values of these settings or their defaults, and the names of invalid settings. Adds the problems of the
 * invalid settings.
 */
const readValues = (schema: TObject, keys: readonly string[], sources: Sources, problems: string[]) => {
  const settings: Record<string, unknown> = {};
  const invalid: string[] = [];
  for (const key of keys) {
    const property = schema.properties[key] as TSchema & { default?: unknown };
    const given = findGiven(key, property, sources);
    const found = given ? [...findProblems(property, given), ...findShownSecret(key, given)] : [];
    problems.push(...found);
    if (found.length > 0) invalid.push(key);
    const value = given && found.length === 0 ? given.value : property.default;
    if (value !== undefined) settings[key] = value;
  }
  return { settings: settings as Settings, invalid };
};

/** Returns the first value found in this order: flag, variable, file. */
const findGiven = (
  key: string,
  schema: TSchema,
  { flags, environment, file, path }: Sources,
): GivenSetting | undefined => {
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

/** Finds a password in an address on the command line, because every account on the machine can read command lines. */
const findShownSecret = (key: string, { value, place }: GivenSetting): string[] =>
  key === 'store' && place.startsWith('--') && hasPassword(String(value))
    ? [
        `${place} must not contain a password, because other accounts can read the command line: set ${toVariableName(key)} instead`,
      ]
    : [];

/** True for `scheme://user:password@host`, or for a parameter `password`. */
const hasPassword = (address: string): boolean =>
  /^\w+:\/\/[^@/?#]*:[^@/]*@/.test(address) || /[?&]password=/i.test(address);

/** Adds the values of replaced settings to `access`. */
const addReplacedAccess = (
  schema: TObject,
  settings: Settings,
  sources: Sources,
  isInvalid: boolean,
  findings: Findings,
): void => {
  const isGiven = !isInvalid && findGiven('access', schema.properties['access'] as TSchema, sources) !== undefined;
  const former = toFormerProperties(schema.properties);
  const findValid = (key: string): GivenSetting | undefined => {
    const property = former[key] as TSchema;
    const given = findGiven(key, property, sources);
    const found = given ? findProblems(property, given) : [];
    findings.problems.push(...found);
    return found.length === 0 ? given : undefined;
  };
  const access = mergeReplacedAccess(isGiven ? settings.access : undefined, findValid, findings);
  if (access !== undefined) settings.access = access;
};

/**
 * Returns the problems that `check` finds. Leaves out problems that name an invalid setting, because a valid value may
 * solve them.
 */
const listCheckProblems = (check: () => unknown, invalid: readonly string[]): string[] =>
  problemsOf(check).filter((problem) => !invalid.some((key) => new RegExp(`\\b${key}\\b`).test(problem)));

/**
 * Finds variables for settings that only the config file can contain, because such variables would be silently ignored.
 */
const findFileOnlyVariables = (schema: TObject, environment: NodeJS.ProcessEnv): string[] =>
  Object.entries(schema.properties)
    .filter(([key, property]) => textForm(property) === 'none' && environment[toVariableName(key)])
    .map(([key]) => `${toVariableName(key)} has no effect: set ${key} in the config file`);

/** Returns the reasons why a value is invalid for a setting, as clauses. Empty if the value is valid. */
const findProblems = (schema: TSchema, { value, place }: GivenSetting): string[] => {
  if ('anyOf' in schema) {
    // The value is a word or, in the config file, an object.
    const [word, object] = (schema as TUnion).anyOf as [TSchema, TSchema];
    return findProblems(typeof value === 'object' && value !== null ? object : word, { value, place });
  }
  const errors = listSchemaErrors(schema, value);
  if (errors.length === 0) return [];
  const form = textForm(schema);
  if (form === 'none' || (form === 'list' && Array.isArray(value))) {
    const faults = describeSchemaErrors(dropBranches(errors), { schema });
    const toPart = (path: string[]) => (path.length > 0 ? ` at ${path.join('.')}` : '');
    return [...new Set(faults.map(({ path, clause }) => `${place}${toPart(path)} ${clause}`))];
  }
  const { pattern = '' } = schema as { pattern?: string };
  const isPattern = errors.some(({ keyword }) => keyword === 'pattern');
  const wanted = (isPattern && patternNames[pattern]) || describeValues(schema, form);
  const found = isSecretSetting(schema) ? '' : `, not ${JSON.stringify(value)}`;
  return [`${place} must be ${wanted}${found}`];
};

/**
 * Drops the errors of a union's branches, because they contradict each other. The error of the union itself names the
 * accepted values.
 */
const dropBranches = (errors: readonly SchemaError[]): SchemaError[] => {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf').map(({ schemaPath }) => `${schemaPath}/anyOf/`);
  return errors.filter(({ schemaPath }) => !unions.some((union) => schemaPath.startsWith(union)));
};

const describeValues = (schema: TSchema, form: 'flag' | 'integer' | 'number' | 'list' | 'string'): string => {
  const { enum: words, minimum, maximum } = schema as { enum?: string[]; minimum?: number; maximum?: number };
  if (words) return `one of ${words.join(', ')}`;
  if (form === 'flag') return 'true or false';
  if (form === 'list') return 'a list of names';
  if (form === 'string') return 'a non-empty string';
  const number = form === 'integer' ? 'a whole number' : 'a number';
  if (minimum === undefined) return number;
  return `${number} ${maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`}`;
};
