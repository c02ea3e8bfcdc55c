import { parseArguments } from './arguments.ts';
import { type Finding, type Gap, type Line, toMarkdown } from './finding.ts';
import { describeRun, NotMeasurable, requireDisk } from './machine.ts';
import { createLoad } from './requests.ts';
import { createScope, type Scope, withScope } from './server.ts';

/** The means that rows measure with. */
export interface Bench extends ReturnType<typeof parseArguments> {
  /** Ends together with the row, and with it all servers of the row. */
  scope: Scope;
  load: ReturnType<typeof createLoad>;
  /** For what rows share; it ends with the run. */
  folder: string;
}

export type Measure = (bench: Bench) => Promise<Finding[]>;

/** A row's id is, for example, `B1`, or `B21, B27` for two goals that one row shows. */
export type Row = [id: string, measure: Measure];

/** Measures the rows named on the command line of `npm run SCRIPT`, or all, and prints them. */
export const runRows = async (script: string, rows: readonly Row[], argv: string[]) => {
  const args = parseArguments(argv);
  const toIds = ([id]: Row): string[] => id.toLowerCase().split(', ');
  const isIn = (ids: string[], row: Row): boolean => toIds(row).some((id) => ids.includes(id));
  const unknown = [...args.ids, ...args.without].filter((id) => !rows.flatMap(toIds).includes(id));
  if (unknown.length > 0) throw new Error(`unknown rows: ${unknown.join(', ')}`);
  requireDisk(args.folder);
  const { folder, end } = createScope(args.folder);
  const describe = describeRun(['npm run', script, ...(argv.length === 0 ? [] : ['--', ...argv])].join(' '), folder);
  const shared = { ...args, load: createLoad(folder), folder };
  const findings: Line[] = [];
  const gaps: Gap[] = [];
  const seconds: string[] = [];
  /** True if a row failed, and not only for want of a program. */
  let hasFailed = false;
  for (const row of rows.filter((each) => args.ids.length === 0 || isIn(args.ids, each))) {
    const [id, measure] = row;
    if (isIn(args.without, row)) {
      gaps.push({ id, reason: 'left out of this run' });
      continue;
    }
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
