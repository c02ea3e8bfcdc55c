import type { Flags } from '../config/load.ts';

/** Flag of a command or a setting. */
export interface Flag {
  /** Placeholder for the value, e.g. `SECONDS`. Switches have none. */
  value?: string;
  /** One or more sentences. */
  summary: string;
  /** Accepted values, if they are few. */
  choices?: readonly string[];
  isNumber?: boolean;
  /** `repeated`: the flag can be given several times. `joined`: the value of the flag is a comma-separated list. */
  isList?: 'repeated' | 'joined';
  /** True for a switch that is on by default. */
  isOn?: boolean;
  short?: string;
}

/** Flag with its name in camelCase. */
export interface NamedFlag extends Flag {
  key: string;
}

/** Words of a command. */
interface Argument {
  name: string;
  /** Set if any number of words is accepted, including none. Otherwise exactly one word is required. */
  isList?: true;
  /** Set for a single word that usually contains spaces. */
  isQuoted?: true;
  /** Accepted words, if they are few. */
  choices?: readonly string[];
  /** Set if the word is the number of an incident or task. When completing, shells ask the server for these numbers. */
  numbers?: NumberedThings;
}

/** Things that people refer to by number. */
export type NumberedThings = 'incidents' | 'tasks';

/** Values given for a command's own flags, by name in camelCase. */
type Own<F> = {
  [K in keyof F]: F[K] extends { isList: 'repeated' }
    ? readonly string[] | undefined
    : (F[K] extends { value: string } ? string : boolean) | undefined;
};

export interface CommandInput<F = Record<string, Flag>> {
  words: readonly string[];
  own: Own<F>;
  /** Flags for settings. */
  flags: Flags;
  /** True if the initial working directory no longer exists. */
  isFolderGone: boolean;
}

/** Definition of `signalbox NAME`. The help, the man page, completions and the parser all read it. */
export interface Command<F extends Record<string, Flag> = Record<string, Flag>> {
  name: string;
  argument?: Argument;
  /** One sentence. */
  summary: string;
  /** Paragraphs for the command's help and the man page. */
  details?: readonly string[];
  /** Flags by name in camelCase. */
  flags?: F;
  /** Settings that the command reads. The command accepts their flags in addition to `--config`. Default: none. */
  settings?: 'all' | readonly string[];
  /** Environment variables that the command reads in addition to the variables of settings. */
  variables?: Readonly<Record<string, string>>;
  /** Exit codes other than 0, 1 for a failure and 2 for an invalid command line. */
  exitCodes?: Readonly<Record<string, string>>;
  /**
   * Set if the words are the command line of another program. Flags after the first word then belong to that program.
   */
  isWrapper?: true;
  /**
   * Runs the command. Resolves to the exit code, or to undefined if the process ends by itself. Import large modules
   * only inside `run`, because every command loads the list of commands.
   */
  run(input: CommandInput<F>): Promise<number | undefined>;
}

/** Defines a command. The input of its `run` is typed by the command's own flags. */
export const defineCommand = <const F extends Record<string, Flag>>(command: Command<F>): Command =>
  command as unknown as Command;

/** Returns the command line that prints a command's help. */
export const helpOf = ({ name }: Command): string =>
  name === 'serve' ? 'signalbox --help' : `signalbox ${name} --help`;
