import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeConformance } from './conformance.mjs';
import { prepare, root, runTool } from './prepare.mjs';
import { listTests, runTests } from './run-tests.mjs';

/** Minimum branch coverage of src, in percent. */
const minimumBranches = 95;

const reportCoverage = (coverage) =>
  runTool('c8', 'c8', [
    ...['report', '--temp-directory', coverage, '--all', '--src', 'dist/src', '--exclude-after-remap'],
    ...['--include', 'dist/src/**', '--include', 'src/**', '--exclude', '**/*.test.*'],
    ...['--reporter', 'text', '--skip-full', '--check-coverage', '--branches', String(minimumBranches)],
    ...['--lines', '0', '--functions', '0', '--statements', '0'],
  ]);

/** Reasons for which a test may be skipped in CI, where everything that tests need is installed. */
const allowedSkips = [
  // Node 20 and 22; .ci/run runs these tests on Node 24, too.
  'this version of Node has no argon2 of its own',
];

/** In CI, tests that were skipped for other reasons. */
const checkSkips = (skips) =>
  process.env.CI !== 'true'
    ? []
    : skips
        .filter(({ skipped }) => !allowedSkips.includes(skipped))
        .map(({ file, name, skipped }) => `${file} was not run in CI: ${name}: ${skipped}`);

const printSlowest = (times) => {
  const slowest = times.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10);
  process.stdout.write('\nThe slowest files, in seconds:\n');
  for (const { file, seconds } of slowest) process.stdout.write(`${seconds.toFixed(1).padStart(6)} ${file}\n`);
};

const [names, flags] = [false, true].map((isFlag) =>
  process.argv.slice(2).filter((word) => word.startsWith('--') === isFlag),
);
const isMeasured = flags.includes('--coverage');
const files = listTests(names);
if (files.length === 0) {
  process.stderr.write(`No test file has ${names.join(' or ')} in its name.\n`);
  process.exit(1);
}
await prepare();
const before = readdirSync(root);
const coverage = mkdtempSync(join(tmpdir(), 'signalbox-coverage-'));
process.on('exit', () => rmSync(coverage, { recursive: true, force: true }));
const { code, totals, tests, skips, times } = await runTests(files, isMeasured ? { NODE_V8_COVERAGE: coverage } : {});
const problems = names.length === 0 && code === 0 ? writeConformance(tests) : [];
problems.push(...checkSkips(skips));
const left = readdirSync(root).filter((entry) => !before.includes(entry));
if (left.length > 0) problems.push(`the tests left files behind: ${left.join(', ')}`);
if (isMeasured && code === 0) reportCoverage(coverage);
printSlowest(times);
process.stdout.write(`\n${totals.join('\n')}\n`);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? code : 1;
