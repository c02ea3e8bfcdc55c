import { parseArgs } from 'node:util';
import type { TObject } from 'typebox';
import type { Flags } from '../config/load.ts';
import { isFlag, textForm, toFlagName } from '../config/schema.ts';

/** A command line that cannot be understood: printed as one line, with exit code 2. */
export class UsageError extends Error {}

/**
 * Reads the command line by the settings' schema: the words that are not flags, in order, and the flags by setting,
 * e.g. `dataDir`. Throws a UsageError for an unknown flag.
 */
export const parseArguments = (argv: readonly string[], schema: TObject) => {
  const settings = Object.entries(schema.properties).filter(([, property]) => isFlag(property));
  const options: Record<string, { type: 'boolean' | 'string'; short?: string }> = {
    config: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean' },
  };
  for (const [key, property] of settings) {
    options[toFlagName(key)] = { type: textForm(property) === 'flag' ? 'boolean' : 'string' };
  }
  const { values, positionals } = parse(argv, options);
  const keys = ['config', 'help', 'version', ...settings.map(([key]) => key)];
  return { words: positionals, flags: Object.fromEntries(keys.map((key) => [key, values[toFlagName(key)]])) as Flags };
};

const parse = (argv: readonly string[], options: NonNullable<Parameters<typeof parseArgs>[0]>['options'] & object) => {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, allowNegative: true });
  } catch (error) {
    // The first sentence is enough; the rest explains how to pass positionals that begin with a dash.
    const [sentence] = (error as Error).message.split(/\.\s/, 1);
    throw new UsageError(`${sentence?.replace(/\.$/, '')}; see signalbox --help`);
  }
};
