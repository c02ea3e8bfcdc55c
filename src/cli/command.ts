import type { Flags } from '../config/load.ts';

/** Flag of a command or a setting. */
export interface Flag {
  /** Placeholder for the value, e.g. `SECONDS`; switches have none. */
  value?: string;
  /** One or more sentences. */
  summary: string;
  /** Accepted values, if they are few. */
  choices?: readonly string[];
  isNumber?: boolean;
  /** `repeated`: the flag can be given several times; `joined`: the flag's value is a comma-separated list. */
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
  /** Any number of words, even none; otherwise exactly one word. */
  isList?: true;
  /** A single word that usually contains spaces. */
  isQuoted?: true;
  /** Accepted words, if they are few. */
  choices?: readonly string[];
  /** Set if the word is a number of this kind. Shells query the server for such numbers when completing. */
  numbers?: NumberedThings;
}

/** Things people refer to by number. */
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

/** `signalbox NAME`. Help, man page, completions and the parser read this object. */
export interface Command<F extends Record<string, Flag> = Record<string, Flag>> {
  name: string;
  argument?: Argument;
  /** One sentence. */
  summary: string;
  /** Paragraphs for the command's help and the man page. */
  details?: readonly string[];
  /** Flags by name in camelCase. */
  flags?: F;
  /** Settings the command reads, and whose flags it accepts in addition to `--config`. Default: none. */
  settings?: 'all' | readonly string[];
  /** Variables that the command reads in addition to the variables of settings. */
  variables?: Readonly<Record<string, string>>;
  /** Exit codes other than 0, 1 for a failure and 2 for an invalid command line. */
  exitCodes?: Readonly<Record<string, string>>;
  /** Set if the words are another program's command line: flags after the first word belong to that program. */
  isWrapper?: true;
  /**
   * Resolves to the exit code with which to end the process, or to undefined if the process ends by itself. Import
   * large modules only inside `run`, because every command loads the list of commands.
   */
  run(input: CommandInput<F>): Promise<number | undefined>;
}

/** Types the input of a command's `run` by the command's own flags. */
export const defineCommand = <const F extends Record<string, Flag>>(command: Command<F>): Command =>
  command as unknown as Command;

/** Returns the command line that prints a command's help. */
export const helpOf = ({ name }: Command): string =>
  name === 'serve' ? 'signalbox --help' : `signalbox ${name} --help`;
