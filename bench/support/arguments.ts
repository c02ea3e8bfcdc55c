import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';

export interface Arguments {
  /** Ids of the rows to measure, in upper case; empty for all. */
  ids: string[];
  rounds: number;
  /** Duration of a round. */
  seconds: number;
  /** True for an hour of mixed life instead of some minutes (B31). */
  isLong: boolean;
  /** Parent of temporary folders. It must be on a disk, since writes are synced. */
  folder: string;
  /** The file whose table is replaced. */
  page: string | undefined;
}

const page = 'docs/benchmarks.md';
/** With fewer rounds, figures are not for the page. */
const fewestRounds = 5;

/** Parses a command line such as `B2 B3 --rounds 8`. Throws on unknown arguments. A run of all rows writes the page. */
export const parseArguments = (argv: string[]): Arguments => {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '6' },
      seconds: { type: 'string', default: '1' },
      folder: { type: 'string', default: tmpdir() },
      long: { type: 'boolean', default: false },
    },
  });
  const rounds = toWhole('rounds', values.rounds);
  return {
    ids: positionals.map((id) => id.toUpperCase().replace('5B', '5b')),
    rounds,
    seconds: toWhole('seconds', values.seconds),
    isLong: values.long,
    folder: values.folder,
    page: positionals.length === 0 && rounds >= fewestRounds ? page : undefined,
  };
};

const toWhole = (name: string, text: string): number => {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new Error(`--${name} must be a whole number, 1 or more, not ${text}`);
};
