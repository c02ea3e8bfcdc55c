import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { type Finding, type Gap, type Line, toMarkdown } from './finding.ts';
import { describeRun, NotMeasurable, requireDisk } from './machine.ts';
import { createLoad } from './requests.ts';
import { createScope, type Scope, withScope } from './server.ts';

const minRounds = 5;

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
    },
  });
  const ids = positionals.map((id) => id.toLowerCase());
  const rounds = toWhole('rounds', values.rounds);
  return {
    /** Ids of the rows to measure, in lower case. Empty for all. */
    ids,
    rounds,
    /** Duration of a round. */
    seconds: toWhole('seconds', values.seconds),
    /** True to run the mixed life for an hour instead of a few minutes (B31). */
    isLong: values.long,
    /** Parent of temporary folders. Must be on a disk, because writes are synced. */
    folder: values.folder,
    /** File whose table is replaced. Set only for a run of all rows with enough rounds. */
    page: ids.length === 0 && rounds >= minRounds ? 'bench/results.md' : undefined,
  };
};

export interface Bench extends ReturnType<typeof parseArguments> {
  /** Scope that ends with the row, together with all servers of the row. */
  scope: Scope;
  load: ReturnType<typeof createLoad>;
  /** Folder shared by rows. Deleted at the end of the run. */
  folder: string;
}

export type Measure = (bench: Bench) => Promise<Finding[]>;

/** Row with its id, such as `B1`, or `B21, B27` for two goals in one row. */
export type Row = [id: string, measure: Measure];

/** Measures the rows named on the command line of `npm run SCRIPT`, or all rows, and prints them. */
export const runRows = async (script: string, rows: readonly Row[], argv: string[]) => {
  const args = parseArguments(argv);
  const toIds = ([id]: Row): string[] => id.toLowerCase().split(', ');
  const unknown = args.ids.filter((id) => !rows.flatMap(toIds).includes(id));
  if (unknown.length > 0) throw new Error(`unknown rows: ${unknown.join(', ')}`);
  requireDisk(args.folder);
  const { folder, end } = createScope(args.folder);
  const describe = describeRun(['npm run', script, ...(argv.length === 0 ? [] : ['--', ...argv])].join(' '), folder);
  const shared = { ...args, load: createLoad(folder), folder };
  const selected = rows.filter((row) => args.ids.length === 0 || toIds(row).some((id) => args.ids.includes(id)));
  const findings: Line[] = [];
  const gaps: Gap[] = [];
  const seconds: string[] = [];
  /** True if a row failed for any reason other than a missing program. */
  let hasFailed = false;
  for (const [id, measure] of selected) {
    const began = performance.now();
    process.stderr.write(`${id} ... `);
    try {
      const measured = await withScope(folder, (scope) => measure({ ...shared, scope }));
      findings.push(...measured.map((finding) => ({ id, ...finding })));
    } catch (error) {
      gaps.push({ id, reason: (error as Error).message });
      hasFailed ||= !(error instanceof NotMeasurable);
    }
    const elapsed = Math.round((performance.now() - began) / 1000);
    seconds.push(`${id} ${elapsed}`);
    process.stderr.write(`${elapsed} s\n`);
  }
  await end();
  const text = toMarkdown([...describe(), `Seconds of each row: ${seconds.join(', ')}.`], findings, gaps);
  process.stdout.write(text);
  return { text, findings, gaps, hasFailed };
};

const toWhole = (name: string, text: string): number => {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new Error(`--${name} must be a whole number, 1 or more, not ${text}`);
};
