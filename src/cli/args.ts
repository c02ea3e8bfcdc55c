import { parseArgs } from 'node:util';
import { toFlagName } from '../config/names.ts';
import type { Command } from './command.ts';

/** The command line is invalid: each problem is printed as one line, with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly problems: readonly string[];

  constructor(...problems: string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

/** By its name, because each of the bundle's files has this class. */
export const isUsageError = (error: unknown): error is UsageError =>
  error instanceof Error && error.name === 'UsageError';

/** A flag as the parser knows it, of a command or a setting. */
export interface KnownFlag {
  /** Its name in camelCase. */
  key: string;
  type: 'switch' | 'number' | 'text';
  isList?: boolean;
  short?: string;
}

/** Every command takes these. */
export const commonFlags: readonly KnownFlag[] = [
  { key: 'help', type: 'switch', short: 'h' },
  { key: 'version', type: 'switch' },
];

/** The command's own flags. */
export const listOwnFlags = ({ flags = {} }: Command): KnownFlag[] =>
  Object.entries(flags).map(([key, { value, isList }]) => ({
    key,
    type: value === undefined ? 'switch' : value === 'SECONDS' ? 'number' : 'text',
    ...(isList && { isList }),
  }));

/** `--data-dir` */
export const toFlag = (key: string): string => `--${toFlagName(key)}`;

type Value = string | boolean | (string | boolean)[] | undefined;

/** Where the first word is that is no flag and no flag's value; undefined if there is none. */
export const findWord = (argv: readonly string[], known: readonly KnownFlag[]): number | undefined =>
  tokenize(argv, known).find(({ kind }) => kind === 'positional')?.index;

/** The flags before a wrapped command line, and that line; `--` may stand between them. */
export const splitWrapped = (argv: readonly string[], known: readonly KnownFlag[]): [string[], string[]] => {
  const end = tokenize(argv, known).find(({ kind }) => kind !== 'option');
  if (end === undefined) return [[...argv], []];
  return [argv.slice(0, end.index), argv.slice(end.index + (end.kind === 'option-terminator' ? 1 : 0))];
};

/** The flags that are not among the known ones, as they were given. */
export const listUnknownFlags = (argv: readonly string[], known: readonly KnownFlag[]): string[] => {
  const options = toOptions(known);
  return tokenize(argv, known).flatMap((token) =>
    token.kind === 'option' && !isKnown(token.rawName, options) ? token.rawName : [],
  );
};

/** Parses words and flags, all known; values are by the flag's key. Throws a UsageError; `help` says where to look. */
export const parseFlags = (
  argv: readonly string[],
  known: readonly KnownFlag[],
  help: string,
): { words: string[]; values: Record<string, Value> } => {
  const options = toOptions(known);
  const { values, positionals, tokens } = parse(argv, known, help);
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1];
    if (token.kind === 'positional' && booleanWords.has(token.value) && before?.kind === 'option') {
      if (options[before.name]?.type === 'boolean') throw new UsageError(explainSwitch(before.name));
    }
  }
  return { words: positionals, values: Object.fromEntries(known.map(({ key }) => [key, values[toFlagName(key)]])) };
};

type Options = Record<string, { type: 'boolean' | 'string'; short?: string; multiple?: boolean }>;

const toOptions = (known: readonly KnownFlag[]): Options =>
  Object.fromEntries(
    known.map(({ key, type, isList = false, short }) => [
      toFlagName(key),
      { type: type === 'switch' ? 'boolean' : 'string', multiple: isList, ...(short && { short }) },
    ]),
  );

const booleanWords = new Set(['true', 'false', 'yes', 'no', '0', '1']);

const tokenize = (argv: readonly string[], known: readonly KnownFlag[]) =>
  parseArgs({ ...toRules(argv, known), strict: false }).tokens;

const toRules = (argv: readonly string[], known: readonly KnownFlag[]) =>
  ({ args: [...argv], options: toOptions(known), allowPositionals: true, allowNegative: true, tokens: true }) as const;

const parse = (argv: readonly string[], known: readonly KnownFlag[], help: string) => {
  try {
    return parseArgs(toRules(joinNegativeNumbers(argv, known), known));
  } catch (error) {
    throw new UsageError(explain((error as Error).message, help));
  }
};

/** Turns `--port -1` into `--port=-1`, so the error is about the number and not about a missing value. */
const joinNegativeNumbers = (argv: readonly string[], known: readonly KnownFlag[]): string[] => {
  const flags = new Set(known.flatMap(({ key, type }) => (type === 'number' ? toFlag(key) : [])));
  return argv.flatMap((word, index) => {
    if (/^-[1-9]/.test(word) && flags.has(argv[index - 1] ?? '')) return [];
    const next = argv[index + 1] ?? '';
    return /^-[1-9]/.test(next) && flags.has(word) ? `${word}=${next}` : word;
  });
};

const isKnown = (flag: string, options: Options): boolean => {
  const name = flag.replace(/^--/, '');
  const negated = options[name.replace(/^no-/, '')];
  return Object.hasOwn(options, name) || flag === '-h' || (name.startsWith('no-') && negated?.type === 'boolean');
};

/** Turns Node's message about a flag into one that says what to do. */
const explain = (message: string, help: string): string => {
  const flag = /'(?:-\w, )?(-[^\s'=]*)/.exec(message)?.[1] ?? '';
  const name = flag.replace(/^--/, '');
  if (/does not take an argument/.test(message)) return explainSwitch(name);
  return `${flag} needs a value, as in ${flag}=VALUE; see ${help}`;
};

const explainSwitch = (name: string): string =>
  ['help', 'version'].includes(name) || name.startsWith('no-')
    ? `--${name} takes no value`
    : `--${name} takes no value: use --${name} for true, --no-${name} for false`;
