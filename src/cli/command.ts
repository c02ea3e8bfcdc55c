import type { Flags } from '../config/load.ts';

/** A flag of one command, or of a setting. */
export interface Flag {
  /** Stands for its value, e.g. `SECONDS`; a switch has none. */
  value?: string;
  /** A sentence, or several. */
  summary: string;
  /** The values it takes, if they are few. */
  choices?: readonly string[];
  isNumber?: boolean;
  /** It can be given several times; or its one value is a list, separated by commas. */
  isList?: 'repeated' | 'joined';
  /** It is a switch that is on unless it is turned off. */
  isOn?: boolean;
  short?: string;
}

/** A flag with its name in camelCase. */
export interface NamedFlag extends Flag {
  key: string;
}

/** The words that a command takes. */
interface Argument {
  name: string;
  /** Any number of words, even none; otherwise exactly one. */
  isList?: true;
  /** One word that usually has blanks. */
  isQuoted?: true;
  /** The words it can be, if they are few. */
  choices?: readonly string[];
  /** It is a number of one of these, which shells ask the server for. */
  numbers?: NumberedThings;
}

/** What has numbers for people. */
export type NumberedThings = 'incidents' | 'tasks';

/** What is given for a command's own flags, by name in camelCase. */
type Own<F> = {
  [K in keyof F]: F[K] extends { isList: 'repeated' }
    ? readonly string[] | undefined
    : (F[K] extends { value: string } ? string : boolean) | undefined;
};

export interface CommandInput<F = Record<string, Flag>> {
  words: readonly string[];
  own: Own<F>;
  /** The flags of settings. */
  flags: Flags;
  /** The directory that the process was started in no longer exists. */
  isFolderGone: boolean;
}

/** `signalbox NAME`. Help, man page, completions and the parser read this object. */
export interface Command<F extends Record<string, Flag> = Record<string, Flag>> {
  name: string;
  argument?: Argument;
  /** A sentence. */
  summary: string;
  /** Paragraphs for its own help and the man page. */
  details?: readonly string[];
  /** By name in camelCase. */
  flags?: F;
  /** The settings it reads: it takes their flags and `--config`. None by default. */
  settings?: 'all' | readonly string[];
  /** Variables that it reads besides those of settings. */
  variables?: Readonly<Record<string, string>>;
  /** Exit codes, if they are not only 0, 1 for a failure and 2 for an invalid command line. */
  exitCodes?: Readonly<Record<string, string>>;
  /** Its words are another program's command line: flags after the first word are that program's. */
  isWrapper?: true;
  /**
   * Resolves to an exit code, with which the process ends, or to undefined: it then ends by itself. Imports what is large
   * only here: every command loads this list.
   */
  run(input: CommandInput<F>): Promise<number | undefined>;
}

/** Types what a command's `run` is given by its own flags. */
export const defineCommand = <const F extends Record<string, Flag>>(command: Command<F>): Command =>
  command as unknown as Command;

/** What prints the help of a command. */
export const helpOf = ({ name }: Command): string =>
  name === 'serve' ? 'signalbox --help' : `signalbox ${name} --help`;
