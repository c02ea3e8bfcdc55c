import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';

export interface Arguments {
  /** Ids of the rows to measure, in capitals; none means all. */
  ids: string[];
  rounds: number;
  /** Length of a round. */
  seconds: number;
  /** The size that the goals name, also where it takes long. */
  isFull: boolean;
  /** Where temporary folders are made: on a disk, for what is written there is synced. */
  folder: string;
  markdown: string | undefined;
}

const fewestRounds = 5;

/** Reads a command line: `B2 B3 --rounds 9`. Throws for what it does not know. */
export const parseArguments = (argv: string[]): Arguments => {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1' },
      folder: { type: 'string', default: tmpdir() },
      markdown: { type: 'string' },
      full: { type: 'boolean', default: false },
    },
  });
  return {
    ids: positionals.map((id) => id.toUpperCase()),
    rounds: toWhole('rounds', values.rounds, fewestRounds),
    seconds: toWhole('seconds', values.seconds, 1),
    isFull: values.full,
    folder: values.folder,
    markdown: values.markdown,
  };
};

const toWhole = (name: string, text: string, least: number): number => {
  if (/^\d+$/.test(text) && Number(text) >= least) return Number(text);
  throw new Error(`--${name} is a whole number, ${least} or more, not ${text}`);
};
