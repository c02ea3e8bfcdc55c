import { parseArgs } from 'node:util';
import type { TObject, TSchema } from 'typebox';
import type { Flags } from '../config/load.ts';
import { isFlag, textForm, toFlagName, toVariableName } from '../config/schema.ts';
import { suggest } from '../config/suggest.ts';

/** A command line that cannot be understood: printed as one line, with exit code 2. */
export class UsageError extends Error {}

/**
 * Reads the command line by the settings' schema: the words that are not flags, in order, and the flags by setting,
 * e.g. `dataDir`. Throws a UsageError for an unknown flag.
 */
export const parseArguments = (argv: readonly string[], schema: TObject) => {
  const settings = Object.entries(schema.properties).filter(([, property]) => isFlag(property));
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

/** `--port -1` becomes `--port=-1`, so that it is refused as a number and not as a missing value. */
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
  try {
    return parseArgs({ args, options, allowPositionals: true, allowNegative: true, tokens: true });
  } catch (error) {
    throw new UsageError(explain((error as Error).message, options, schema));
  }
};

/** What is wrong with the flag that Node's message names, and what to do about it. */
const explain = (message: string, options: Options, schema: TObject): string => {
  const flag = /'(?:-\w, )?(-[^\s'=]*)/.exec(message)?.[1] ?? '';
  const name = flag.replace(/^--/, '');
  if (/^Unknown option/.test(message)) return `Unknown option '${flag}'${adviseUnknown(flag, options, schema)}`;
  if (/does not take an argument/.test(message)) return explainSwitch(name);
  return `${flag} needs a value, as in ${flag}=VALUE; see signalbox --help`;
};

const explainSwitch = (name: string): string =>
  ['help', 'version'].includes(name) || name.startsWith('no-')
    ? `--${name} takes no value`
    : `--${name} takes no value: give --${name} for true, --no-${name} for false`;

const adviseUnknown = (flag: string, options: Options, schema: TObject): string => {
  const unlisted = Object.entries(schema.properties).find(
    ([key, property]) => !isFlag(property) && toFlag(key) === flag,
  );
  if (unlisted) {
    const [key, property] = unlisted;
    const variable = textForm(property) === 'none' ? '' : `the variable ${toVariableName(key)} or `;
    return `: ${key} has no flag; set ${variable}the key ${key} of the config file`;
  }
  const names = Object.entries(options).flatMap(([name, { type }]) =>
    type === 'boolean' && flag.startsWith('--no-') ? `--no-${name}` : `--${name}`,
  );
  return suggest(flag, names) || '; see signalbox --help';
};
