import { loadavg } from 'node:os';
import { rows } from './rows/index.ts';
import type { Bench, Row } from './rows/row.ts';
import { parseArguments } from './support/arguments.ts';
import { readCores } from './support/cores.ts';
import type { Finding } from './support/finding.ts';
import { createLoad } from './support/load.ts';
import { createMarkedWriter } from './support/markers.ts';
import { createMillion } from './support/million.ts';
import { NotMeasurable } from './support/not-measurable.ts';
import { type Gap, toMarkdown } from './support/report.ts';
import { createScope } from './support/scope.ts';
import { describeRun } from './support/surroundings.ts';

/** Measures the rows named on the command line, or all, and prints the table of docs/benchmarks.md. See README.md. */
const words = process.argv.slice(2);
const args = parseArguments(words);
const chosen = rows.filter(({ id }) => args.ids.length === 0 || args.ids.includes(id));
const unknown = args.ids.filter((id) => !rows.some((row) => row.id === id));
if (unknown.length > 0) throw new Error(`unknown rows: ${unknown.join(', ')}`);
const writeTable = args.markdown === undefined ? undefined : createMarkedWriter(args.markdown);
const began = new Date();
const loadBefore = loadavg();
const findings: Finding[] = [];
const gaps: Gap[] = [];
const cores = readCores();
const run = createScope(args.folder);

const measure = async (row: Row, bench: Omit<Bench, 'scope'>): Promise<void> => {
  process.stderr.write(`${row.id} ...\n`);
  const scope = createScope(run.folder);
  try {
    findings.push(...(await row.measure({ ...bench, scope })));
  } catch (error) {
    const { message } = error as Error;
    gaps.push({ id: row.id, reason: message });
    // A missing program is not a failure; any other error is.
    if (!(error instanceof NotMeasurable)) process.exitCode = 1;
  } finally {
    await scope.end();
  }
};

const shared = {
  ...args,
  cores,
  load: createLoad(run.folder, cores),
  startMillion: createMillion(run, cores),
};
for (const row of chosen) await measure(row, shared);
const surroundings = describeRun({ args, words, cores, folder: run.folder, began, loadBefore });
await run.end();
const text = toMarkdown({ findings, gaps, surroundings });
process.stdout.write(text);
writeTable?.(text);
