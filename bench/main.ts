import { rows } from './rows/index.ts';
import { parseArguments } from './support/arguments.ts';
import { readCores } from './support/cores.ts';
import { createLogs } from './support/fill-log.ts';
import type { Finding } from './support/finding.ts';
import { createLoad } from './support/load.ts';
import { NotMeasurable } from './support/programs.ts';
import { createMarkedWriter, type Gap, toMarkdown } from './support/report.ts';
import { createScope, withScope } from './support/scope.ts';
import { describeRun } from './support/surroundings.ts';

/** Measures the rows named on the command line, or all, and writes the table of docs/benchmarks.md. See README.md. */
const words = process.argv.slice(2);
const args = parseArguments(words);
const unknown = args.ids.filter((id) => !rows.some((row) => row.ids.includes(id)));
if (unknown.length > 0) throw new Error(`unknown rows: ${unknown.join(', ')}`);
const chosen = rows.filter(({ ids }) => args.ids.length === 0 || ids.some((id) => args.ids.includes(id)));
const write = args.page === undefined ? undefined : createMarkedWriter(args.page);
const findings: Finding[] = [];
const gaps: Gap[] = [];
const cores = readCores();
const run = createScope(args.folder);
const describe = describeRun({ words: ['bench', ...words], cores, folder: run.folder });
const shared = { ...args, cores, load: createLoad(run.folder, cores), logs: createLogs(run.folder) };

for (const { ids, measure } of chosen) {
  const began = performance.now();
  process.stderr.write(`${ids.join(', ')} ... `);
  try {
    findings.push(...(await withScope(run.folder, (scope) => measure({ ...shared, scope }))));
  } catch (error) {
    gaps.push({ id: ids.join(', '), reason: (error as Error).message });
    // A missing program is not a failure; any other error is.
    if (!(error instanceof NotMeasurable)) process.exitCode = 1;
  }
  process.stderr.write(`${Math.round((performance.now() - began) / 1000)} s\n`);
}
await run.end();
const text = toMarkdown({ findings, gaps, surroundings: describe() });
process.stdout.write(text);
write?.(text);
