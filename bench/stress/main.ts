import { loadavg, tmpdir } from 'node:os';
import { readCores } from '../support/cores.ts';
import { type Finding, judge } from '../support/finding.ts';
import { type Gap, toMarkdown } from '../support/report.ts';
import { createScope } from '../support/scope.ts';
import { describeOccasion, describeOurs } from '../support/surroundings.ts';
import { hostile } from './hostile.ts';
import { login } from './login.ts';
import { overload } from './overload.ts';
import type { Part } from './part.ts';
import { shares } from './shares.ts';
import { slow } from './slow.ts';

/**
 * Measures the parts named on the command line, or all, and prints them. See README.md. Exit code 1: a goal is missed.
 */
const parts: readonly Part[] = [slow, overload, login, hostile, shares];
const names = process.argv.slice(2);
const unknown = names.filter((name) => !parts.some((part) => part.name === name));
if (unknown.length > 0) throw new Error(`unknown parts: ${unknown.join(', ')}`);
const began = new Date();
const loadBefore = loadavg();
const findings: Finding[] = [];
const gaps: Gap[] = [];

const measure = async ({ name, measure }: Part): Promise<void> => {
  process.stderr.write(`${name} ...\n`);
  const scope = createScope(tmpdir());
  try {
    findings.push(...(await measure(scope, readCores())));
  } catch (error) {
    gaps.push({ id: name, reason: (error as Error).message });
  } finally {
    await scope.end();
  }
};

for (const part of parts) {
  if (names.length === 0 || names.includes(part.name)) await measure(part);
}
const surroundings = [
  ...describeOccasion(['stress', ...names], began, loadBefore),
  `Versions: ${describeOurs().join(', ')}.`,
];
process.stdout.write(toMarkdown({ findings, gaps, surroundings }));
if (gaps.length > 0 || findings.some((finding) => judge(finding) === 'short')) process.exitCode = 1;
