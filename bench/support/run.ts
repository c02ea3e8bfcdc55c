import { type Pace, parseArguments } from './arguments.ts';
import { type Finding, type Gap, toMarkdown } from './finding.ts';
import { createLoad, type Load } from './load.ts';
import { describeRun, NotMeasurable, requireDisk } from './machine.ts';
import { createScope, type Scope, withScope } from './scope.ts';

/** The means that rows measure with. */
export interface Bench extends Pace {
  /** Ends together with the row, and with it all servers of the row. */
  scope: Scope;
  load: Load;
  /** For what rows share; it ends with the run. */
  folder: string;
}

export interface Row {
  /** For example `B1`, or `B21, B27` for two goals that one row shows. */
  id: string;
  measure(bench: Bench): Promise<Finding[]>;
}

interface Report {
  text: string;
  findings: Finding[];
  gaps: Gap[];
  /** True if a row failed, and not only for want of a program. */
  hasFailed: boolean;
}

/** Measures the rows named on the command line of `npm run SCRIPT`, or all, and prints them. */
export const runRows = async (script: string, rows: readonly Row[], argv: string[]): Promise<Report> => {
  const args = parseArguments(argv);
  const toIds = ({ id }: Row): string[] => id.toLowerCase().split(', ');
  const unknown = [...args.ids, ...args.without].filter((id) => !rows.some((row) => toIds(row).includes(id)));
  if (unknown.length > 0) throw new Error(`unknown rows: ${unknown.join(', ')}`);
  requireDisk(args.folder);
  const run = createScope(args.folder);
  const describe = describeRun(
    ['npm run', script, ...(argv.length === 0 ? [] : ['--', ...argv])].join(' '),
    run.folder,
  );
  const shared = { ...args, load: createLoad(run.folder), folder: run.folder };
  const findings: Finding[] = [];
  const gaps: Gap[] = [];
  let hasFailed = false;
  const seconds: string[] = [];
  for (const row of rows) {
    if (args.ids.length > 0 && !toIds(row).some((id) => args.ids.includes(id))) continue;
    if (toIds(row).some((id) => args.without.includes(id))) {
      if (gaps.every(({ id }) => id !== row.id)) gaps.push({ id: row.id, reason: 'left out of this run' });
      continue;
    }
    const began = performance.now();
    process.stderr.write(`${row.id} ... `);
    try {
      findings.push(...(await withScope(run.folder, (scope) => row.measure({ ...shared, scope }))));
    } catch (error) {
      gaps.push({ id: row.id, reason: (error as Error).message });
      hasFailed ||= !(error instanceof NotMeasurable);
    }
    const elapsed = Math.round((performance.now() - began) / 1000);
    seconds.push(`${row.id} ${elapsed}`);
    process.stderr.write(`${elapsed} s\n`);
  }
  await run.end();
  const text = toMarkdown([...describe(), `Seconds of each row: ${seconds.join(', ')}.`], findings, gaps);
  process.stdout.write(text);
  return { text, findings, gaps, hasFailed };
};
