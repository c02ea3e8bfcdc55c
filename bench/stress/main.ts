import { tmpdir } from 'node:os';
import { readCores } from '../support/cores.ts';
import { type Finding, isMet } from '../support/finding.ts';
import { type Gap, toMarkdown } from '../support/report.ts';
import { createScope, withScope } from '../support/scope.ts';
import { describeRun } from '../support/surroundings.ts';
import { measureHostile, measureShares } from './hostile.ts';
import { measureOverload } from './overload.ts';

/** Measures the parts named on the command line, or all, and prints them. See README.md. Exit code 1: a goal is missed. */
const parts = { overload: measureOverload, hostile: measureHostile, shares: measureShares };
const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in parts));
if (unknown.length > 0) throw new Error(`unknown parts: ${unknown.join(', ')}`);
const run = createScope(tmpdir());
const cores = readCores();
const describe = describeRun({ words: ['stress', ...names], cores, folder: run.folder });
const findings: Finding[] = [];
const gaps: Gap[] = [];
for (const [name, measure] of Object.entries(parts)) {
  if (names.length > 0 && !names.includes(name)) continue;
  process.stderr.write(`${name} ...\n`);
  try {
    findings.push(...(await withScope(run.folder, (scope) => measure(scope, cores))));
  } catch (error) {
    gaps.push({ id: name, reason: (error as Error).message });
  }
}
await run.end();
process.stdout.write(toMarkdown({ findings, gaps, surroundings: describe() }));
if (gaps.length > 0 || findings.some((finding) => isMet(finding) === false)) process.exitCode = 1;
