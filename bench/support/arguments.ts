import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';

export interface Arguments {
  /** Ids of the rows to measure, in upper case; empty for all. */
  ids: string[];
  rounds: number;
  /** Duration of a round. */
  seconds: number;
  /** True to measure the full size that the goals name, even if it takes long. */
  isFull: boolean;
  /** Parent of temporary folders. It must be on a disk, since writes are synced. */
  folder: string;
  markdown: string | undefined;
}

const fewestRounds = 5;

/** Parses a command line such as `B2 B3 --rounds 9`. Throws on unknown arguments. */
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
