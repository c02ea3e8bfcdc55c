import { parseArgs } from 'node:util';
import type { TObject, TProperties, TSchema } from 'typebox';
import { isFlag, normalise, suggest, textForm, toFlagName, toVariableName } from '../config/names.ts';
import { type Command, helpOf, type NamedFlag } from './command.ts';

/** Error for an invalid command line. Each problem is printed as one line. The exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly problems: readonly string[];

  constructor(...problems: string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

/** Compares by name, because each file of the bundle has a separate copy of this class. */
export const isUsageError = (error: unknown): error is UsageError =>
  error instanceof Error && error.name === 'UsageError';

/** Returns the choice that matches the given value, ignoring case and hyphens. Throws a UsageError if none matches. */
export const readChoice = <T extends string>(flag: string, given: string, choices: readonly T[]): T => {
  const toPlain = (text: string): string => text.replaceAll(/[-_ ]/g, '').toLowerCase();
  const found = choices.find((choice) => toPlain(choice) === toPlain(given));
  if (found !== undefined) return found;
  const values = choices.length === 2 ? choices.join(' or ') : `one of ${choices.join(', ')}`;
  throw new UsageError(`${flag} must be ${values}, not ${JSON.stringify(given)}`);
};

/** Flags of every command. */
export const commonFlags: readonly NamedFlag[] = [
  { key: 'help', short: 'h', summary: 'Print the help.' },
  { key: 'version', summary: 'Print the version.' },
];

/** Returns the command's own flags. */
export const listOwnFlags = ({ flags = {} }: Command): NamedFlag[] =>
  Object.entries(flags).map(([key, flag]) => ({ key, ...flag }));

/** Returns `--config` and the flags of the settings. */
export const listSettingFlags = (settings: TProperties): NamedFlag[] => [
  { key: 'config', value: 'FILE', summary: 'JSON file with settings.' },
  ...Object.entries(settings).flatMap(([key, property]) => (isFlag(property) ? toSettingFlag(key, property) : [])),
];

const toSettingFlag = (key: string, schema: TSchema): NamedFlag => {
  const { description: summary = '', examples, enum: choices = examples, default: usual } = schema as SettingSchema;
  const form = textForm(schema);
  if (form === 'flag') return { key, summary, isOn: usual === true };
  return {
    key,
    value: key,
    summary,
    isNumber: form === 'integer' || form === 'number',
    ...(choices && { choices }),
    ...(form === 'list' && { isList: 'joined' }),
  };
};

interface SettingSchema {
  description?: string;
  examples?: string[];
  enum?: string[];
  default?: unknown;
}

/** Converts a key to its flag: `--data-dir`. */
export const toFlag = (key: string): string => `--${toFlagName(key)}`;

/** Converts a key to its negated flag: `--no-cors`. */
export const toNegation = (key: string): string => `--no-${toFlagName(key)}`;

/** Returns the index of the first word that is neither a flag nor the value of a flag. Undefined if there is none. */
export const findWord = (argv: readonly string[], known: readonly NamedFlag[]): number | undefined =>
  tokenize(argv, known).tokens.find(({ kind }) => kind === 'positional')?.index;

/** Splits the arguments into the wrapper's flags and the wrapped command line. `--` may separate the two. */
export const splitWrapped = (argv: readonly string[], known: readonly NamedFlag[]): [string[], string[]] => {
  const end = tokenize(argv, known).tokens.find(({ kind }) => kind !== 'option');
  if (end === undefined) return [[...argv], []];
  return [argv.slice(0, end.index), argv.slice(end.index + (end.kind === 'option-terminator' ? 1 : 0))];
};

/** Returns the unknown flags as the user typed them. */
export const listUnknownFlags = (argv: readonly string[], known: readonly NamedFlag[]): string[] =>
  tokenize(argv, known).tokens.flatMap((token) =>
    token.kind === 'option' && !findFlag(token, known) ? token.rawName : [],
  );

/**
 * Parses words and flags. All of them must be known. Values are keyed by flag. Throws a UsageError if the command line
 * is invalid. `help` is the command line that prints help.
 */
export const parseFlags = (argv: readonly string[], known: readonly NamedFlag[], help: string) => {
  const { tokens, values, positionals } = tokenize(argv, known);
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'option') continue;
    const { rawName, value, inlineValue } = token;
    const flag = findFlag(token, known);
    if (flag && isSwitch(flag)) {
      const next = tokens[index + 1];
      const isAnswered = next?.kind === 'positional' && /^(true|false|yes|no|0|1)$/.test(next.value);
      if (inlineValue || isAnswered) throw new UsageError(explainSwitch(toFlagName(flag.key)));
    } else if (value === undefined || (!inlineValue && isFlagLike(value, flag))) {
      throw new UsageError(`${rawName} needs a value, as in ${rawName}=VALUE; see ${help}`);
    }
  }
  return { words: positionals, values: Object.fromEntries(known.map(({ key }) => [key, values[toFlagName(key)]])) };
};

/**
 * True for a word that looks like a flag and is therefore probably not a value. A negative number counts as a value, so
 * that the check of its setting can refuse it.
 */
const isFlagLike = (value: string, flag: NamedFlag | undefined): boolean =>
  /^-./.test(value) && !(flag?.isNumber && /^-[1-9]/.test(value));

const isSwitch = ({ value }: NamedFlag): boolean => value === undefined;

/** Finds the flag named by a word. Switches also have the form `--no-…`. */
const findFlag = (
  { name, rawName }: { name: string; rawName: string },
  known: readonly NamedFlag[],
): NamedFlag | undefined => {
  const given = rawName.startsWith('--') ? rawName.slice(2) : name;
  return known.find((flag) => {
    const flagName = toFlagName(flag.key);
    return flagName === given || (isSwitch(flag) && `no-${flagName}` === given);
  });
};

/**
 * Splits a command line into tokens. Does not use Node's strict mode, because its errors do not say how to fix the
 * problem.
 */
const tokenize = (argv: readonly string[], known: readonly NamedFlag[]) => {
  const options = Object.fromEntries(
    known.map(({ key, short, isList, ...flag }) => {
      const type = flag.value === undefined ? ('boolean' as const) : ('string' as const);
      return [toFlagName(key), { type, multiple: isList === 'repeated', ...(short && { short }) }];
    }),
  );
  return parseArgs({
    args: [...argv],
    options,
    strict: false,
    allowPositionals: true,
    allowNegative: true,
    tokens: true,
  });
};

const explainSwitch = (name: string): string =>
  ['help', 'version'].includes(name)
    ? `--${name} takes no value`
    : `--${name} takes no value: use --${name} for true, --no-${name} for false`;

/** Explains why the command does not accept the flag, and what to do instead. */
export const explainUnknownFlag = (
  flag: string,
  command: Command,
  known: readonly NamedFlag[],
  all: { commands: readonly Command[]; schema: TObject; settingFlags: readonly NamedFlag[] },
): string => {
  const takes = (flags: readonly NamedFlag[]) => flags.some(({ key }) => toFlag(key) === flag);
  const owners = all.commands.filter((one) => takes(listOwnFlags(one))).map(({ name }) => name);
  if (takes(all.settingFlags)) return `${flag} is a setting that ${command.name} does not read`;
  if (owners.length > 0) return `${flag} belongs to ${owners.join(', ')}`;
  if (command.name === 'send' && !flag.startsWith('--')) {
    return `Unknown option '${flag}'; put -- before a message that begins with -`;
  }
  const advice = explainFlaglessSetting(flag, all.schema) ?? (suggestFlag(flag, known) || `; see ${helpOf(command)}`);
  return `Unknown option '${flag}'${advice}`;
};

/** Explains that a setting has no flag, and what to do instead. */
const explainFlaglessSetting = (flag: string, { properties }: TObject): string | undefined => {
  const found = Object.entries(properties).find(
    ([key, property]) => !isFlag(property) && normalise(key) === normalise(flag),
  );
  if (!found) return undefined;
  const [key, property] = found;
  const variable = textForm(property) === 'none' ? '' : `the variable ${toVariableName(key)} or `;
  return `: ${key} has no flag; set ${variable}${key} in the config file`;
};

const suggestFlag = (flag: string, known: readonly NamedFlag[]): string =>
  suggest(
    flag,
    known.map((one) => (isSwitch(one) && flag.startsWith('--no-') ? toNegation(one.key) : toFlag(one.key))),
  );
