import { parseArgs } from 'node:util';
import type { TObject, TSchema } from 'typebox';
import type { Flags } from '../config/load.ts';
import { isFlag, textForm, toFlagName, toFormerProperties, toVariableName } from '../config/schema.ts';
import { normalise, suggest } from '../config/suggest.ts';

/** The command line is invalid: each problem is printed as one line, with exit code 2. */
export class UsageError extends Error {
  readonly problems: readonly string[];

  constructor(...problems: string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

/**
 * Parses the command line: returns the words that are not flags, in order, and the flags by setting, e.g. `dataDir`.
 * Throws a UsageError that lists all unknown flags.
 */
export const parseArguments = (argv: readonly string[], schema: TObject) => {
  const properties = { ...schema.properties, ...toFormerProperties(schema.properties) };
  const settings = Object.entries(properties).filter(([, property]) => isFlag(property));
  const options: Options = {
    config: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean' },
    scope: { type: 'string', multiple: true },
  };
  for (const [key, property] of settings) {
    options[toFlagName(key)] = { type: textForm(property) === 'flag' ? 'boolean' : 'string' };
  }
  const { values, positionals, tokens } = parse(joinNegativeNumbers(argv, settings), options, schema);
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1];
    if (token.kind === 'positional' && booleanWords.has(token.value) && before?.kind === 'option') {
      if (options[before.name]?.type === 'boolean') throw new UsageError(explainSwitch(before.name));
    }
  }
  const keys = ['config', 'help', 'version', ...settings.map(([key]) => key)];
  const scopes = (values['scope'] ?? []) as string[];
  return {
    words: positionals,
    scopes,
    flags: Object.fromEntries(keys.map((key) => [key, values[toFlagName(key)]])) as Flags,
  };
};

type Options = Record<string, { type: 'boolean' | 'string'; short?: string; multiple?: boolean }>;

const booleanWords = new Set(['true', 'false', 'yes', 'no', '0', '1']);

/** Turns `--port -1` into `--port=-1`, so the error is about the number and not about a missing value. */
const joinNegativeNumbers = (argv: readonly string[], settings: readonly [string, TSchema][]): string[] => {
  const flags = new Set(settings.flatMap(([key, property]) => (textForm(property) === 'integer' ? toFlag(key) : [])));
  return argv.flatMap((word, index) => {
    if (/^-[1-9]/.test(word) && flags.has(argv[index - 1] ?? '')) return [];
    const next = argv[index + 1] ?? '';
    return /^-[1-9]/.test(next) && flags.has(word) ? `${word}=${next}` : word;
  });
};

const toFlag = (key: string): string => `--${toFlagName(key)}`;

const parse = (args: string[], options: Options, schema: TObject) => {
  const settings = { args, options, allowPositionals: true, allowNegative: true, tokens: true } as const;
  // parseArgs itself reports only the first unknown flag.
  const unknown = parseArgs({ ...settings, strict: false }).tokens.flatMap((token) =>
    token.kind === 'option' && !isKnown(token.rawName, options) ? token.rawName : [],
  );
  if (unknown.length > 0)
    throw new UsageError(...unknown.map((flag) => `Unknown option '${flag}'${adviseUnknown(flag, options, schema)}`));
  try {
    return parseArgs(settings);
  } catch (error) {
    throw new UsageError(explain((error as Error).message));
  }
};

const isKnown = (flag: string, options: Options): boolean => {
  const name = flag.replace(/^--/, '');
  const negated = options[name.replace(/^no-/, '')];
  return Object.hasOwn(options, name) || flag === '-h' || (name.startsWith('no-') && negated?.type === 'boolean');
};

/** Turns Node's message about a flag into one that says what to do. */
const explain = (message: string): string => {
  const flag = /'(?:-\w, )?(-[^\s'=]*)/.exec(message)?.[1] ?? '';
  const name = flag.replace(/^--/, '');
  if (/does not take an argument/.test(message)) return explainSwitch(name);
  return `${flag} needs a value, as in ${flag}=VALUE; see signalbox --help`;
};

const explainSwitch = (name: string): string =>
  ['help', 'version'].includes(name) || name.startsWith('no-')
    ? `--${name} takes no value`
    : `--${name} takes no value: use --${name} for true, --no-${name} for false`;

const adviseUnknown = (flag: string, options: Options, schema: TObject): string => {
  const unlisted = Object.entries(schema.properties).find(
    ([key, property]) => !isFlag(property) && normalise(key) === normalise(flag),
  );
  if (unlisted) {
    const [key, property] = unlisted;
    const variable = textForm(property) === 'none' ? '' : `the variable ${toVariableName(key)} or `;
    return `: ${key} has no flag; set ${variable}${key} in the config file`;
  }
  const names = Object.entries(options).flatMap(([name, { type }]) =>
    type === 'boolean' && flag.startsWith('--no-') ? `--no-${name}` : `--${name}`,
  );
  return suggest(flag, names) || '; see signalbox --help';
};
