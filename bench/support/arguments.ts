import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';

const fewestRounds = 5;

/** Parses a command line such as `B2 B3 --rounds 8`. Throws on unknown arguments. */
export const parseArguments = (args: string[]) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1' },
      folder: { type: 'string', default: tmpdir() },
      long: { type: 'boolean', default: false },
      without: { type: 'string', multiple: true, default: [] },
    },
  });
  const ids = positionals.map((id) => id.toLowerCase());
  const rounds = toWhole('rounds', values.rounds);
  return {
    /** Ids of the rows to measure, in lower case; empty for all. */
    ids,
    /** Ids of rows to leave out, in lower case: the page says that they were not measured. */
    without: values.without.map((id) => id.toLowerCase()),
    rounds,
    /** Duration of a round. */
    seconds: toWhole('seconds', values.seconds),
    /** True for an hour of mixed life instead of some minutes (B31). */
    isLong: values.long,
    /** Parent of temporary folders. It must be on a disk, since writes are synced. */
    folder: values.folder,
    /** The file whose table is replaced: by a run of all rows, with enough rounds. */
    page: ids.length === 0 && rounds >= fewestRounds ? 'docs/benchmarks.md' : undefined,
  };
};

const toWhole = (name: string, text: string): number => {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new Error(`--${name} must be a whole number, 1 or more, not ${text}`);
};
