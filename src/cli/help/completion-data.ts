import type { TObject, TSchema } from 'typebox';
import { isFlag, textForm } from '../../config/names.ts';
import { toFlag } from '../args.ts';
import type { Command } from '../command.ts';

/** A command as the shells complete it. */
export interface CompletedCommand {
  name: string;
  summary: string;
  flags: CompletedFlag[];
  /** What its words can be; files if nothing is known. */
  words: readonly string[];
  isWrapper: boolean;
}

export interface CompletedFlag {
  /** With the dashes. */
  flag: string;
  summary: string;
  /** A switch has none. */
  value?: string;
  /** What its value can be; files if nothing is known. */
  choices: readonly string[];
  /** Its value is a list, separated by commas. */
  isList?: boolean;
}

/** Everything that can be completed. The first command is the one that runs if none is named. */
export const listCompleted = (
  commands: readonly Command[],
  schema: TObject,
  profiles: readonly string[],
): CompletedCommand[] => {
  const settings = Object.entries(schema.properties).filter(([, property]) => isFlag(property));
  const config = { flag: '--config', summary: 'JSON file with settings', value: 'FILE', choices: [] };
  return commands.map(({ name, summary, flags = {}, argument, settings: reads = [], isWrapper = false }) => {
    const read = settings.filter(([key]) => reads === 'all' || reads.includes(key));
    return {
      name,
      summary: toTitle(summary),
      isWrapper,
      words: argument?.choices ?? [],
      flags: [
        ...Object.entries(flags).map(([key, { value, summary: title, choices = [] }]) => ({
          flag: toFlag(key),
          summary: toTitle(title),
          choices,
          ...(value && { value }),
        })),
        ...(read.length === 0 || argument?.name === 'FILE' ? [] : [config]),
        ...read.flatMap(([key, property]) => toSettingFlags(key, property, profiles)),
        { flag: '--help', summary: 'Print the help', choices: [] },
      ],
    };
  });
};

const toSettingFlags = (key: string, schema: TSchema, profiles: readonly string[]): CompletedFlag[] => {
  const {
    description = '',
    examples = [],
    enum: choices = examples,
    default: value,
  } = schema as {
    description?: string;
    examples?: string[];
    enum?: string[];
    default?: unknown;
  };
  const summary = toTitle(description);
  const flag = toFlag(key);
  const form = textForm(schema);
  if (form !== 'flag') {
    const offered = key === 'profiles' ? profiles : choices;
    return [{ flag, summary, value: key, choices: offered, isList: form === 'list' }];
  }
  return [{ flag: value === true ? flag.replace('--', '--no-') : flag, summary, choices: [] }];
};

/** The first sentence, without its full stop. */
const toTitle = (text: string): string =>
  text
    .replaceAll('`', '')
    .split(/[.;:] |\.$/, 1)
    .join();
