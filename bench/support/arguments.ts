import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';

export interface Pace {
  rounds: number;
  /** Duration of a round. */
  seconds: number;
  /** True for an hour of mixed life instead of some minutes (B31). */
  isLong: boolean;
}

export interface Arguments extends Pace {
  /** Ids of the rows to measure, in lower case; empty for all. */
  ids: string[];
  /** Ids of rows to leave out, in lower case: the page says that they were not measured. */
  without: string[];
  /** Parent of temporary folders. It must be on a disk, since writes are synced. */
  folder: string;
  /** The file whose table is replaced: by a run of all rows, with enough rounds. */
  page: string | undefined;
}

const fewestRounds = 5;

/** Parses a command line such as `B2 B3 --rounds 8`. Throws on unknown arguments. */
export const parseArguments = (argv: string[]): Arguments => {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1' },
      folder: { type: 'string', default: tmpdir() },
      long: { type: 'boolean', default: false },
      without: { type: 'string', multiple: true, default: [] },
    },
  });
  const [rounds, seconds] = [toWhole('rounds', values.rounds), toWhole('seconds', values.seconds)];
  const [ids, without] = [positionals, values.without].map((each) => each.map((id) => id.toLowerCase())) as [
    string[],
    string[],
  ];
  const page = ids.length === 0 && rounds >= fewestRounds ? 'docs/benchmarks.md' : undefined;
  return { ids, without, rounds, seconds, isLong: values.long, folder: values.folder, page };
};

const toWhole = (name: string, text: string): number => {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new Error(`--${name} must be a whole number, 1 or more, not ${text}`);
};
