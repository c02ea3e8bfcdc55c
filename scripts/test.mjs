import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkStatements } from '../test/runner/conformance.mjs';
import { listTests, runTests } from '../test/runner/run-tests.mjs';
import { prepare, root, runTool } from './prepare.mjs';

/** Minimum branch coverage of src, in percent. */
const minimumBranches = 95;

/** Reasons for which a test may be skipped in CI, where all requirements of tests are installed. */
const allowedSkips = [
  // Node 20 and 22; .ci/run runs these tests on Node 24, too.
  'this version of Node has no argon2 of its own',
  // The program as published runs these tests, too.
  'no other module can be loaded into the executable',
  // These files run with three stores; each test runs with the store that it concerns.
  'this store keeps tasks and items',
  'two long lists at once may use the database',
  // A shallow clone cannot build 1.0.0.
  'the history of the repository is not here: git fetch --unshallow',
];

const reportCoverage = (coverage) =>
  runTool('c8', 'c8', [
    ...['report', '--temp-directory', coverage, '--all', '--src', 'dist/src', '--exclude-after-remap'],
    ...['--include', 'dist/src/**', '--include', 'src/**', '--exclude', '**/*.test.*'],
    ...['--reporter', 'text', '--skip-full', '--check-coverage', '--branches', String(minimumBranches)],
    ...['--lines', '0', '--functions', '0', '--statements', '0'],
  ]);

/** True if a test of the file has a long form: more kills, failovers, requests or records. */
const hasLongForm = (file) => /\/(long|rounds|task-store)\.ts'|\bisLong\b/.test(readFileSync(join(root, file), 'utf8'));

/** Returns files without a test; files with only a long form need a test only in the long form. */
const findEmpty = (files, tests, isLong) =>
  files
    .filter((file) => !tests.some((test) => test.file === file) && (isLong || !hasLongForm(file)))
    .map((file) => `${file} has no test`);

const findBadSkips = (tests) =>
  tests
    .filter(({ state, text }) => state === 'skipped' && !allowedSkips.includes(text))
    .map(({ file, name, text }) => `${file} was not run in CI: ${name}: ${text}`);

const printSlowest = (tests) => {
  const seconds = {};
  for (const test of tests) if (test.nesting === 0) seconds[test.file] = (seconds[test.file] ?? 0) + test.seconds;
  const slowest = Object.entries(seconds).sort((a, b) => b[1] - a[1]);
  process.stdout.write('\nThe slowest files, in seconds:\n');
  for (const [file, each] of slowest.slice(0, 10)) process.stdout.write(`${each.toFixed(1).padStart(6)} ${file}\n`);
};

const toLine = ({ file, name, state, variables }) =>
  [`${file}: ${state}: ${name}`, ...Object.entries(variables ?? {}).map((pair) => pair.join('='))].join(', ');

/** Adds the beginning of the errors, which are far above in the output. */
const toProblem = (test) => [toLine(test), ...(test.text ?? '').split('\n').slice(0, 12)].join('\n  ');

const printTotals = (tests, seconds) => {
  const count = (wanted) => tests.filter(({ state }) => state === wanted).length;
  const states = ['passed', 'failed', 'flaky', 'skipped'].map((state) => `${count(state)} ${state}`);
  process.stdout.write(`\n${tests.length} tests in ${seconds.toFixed(0)} s: ${states.join(', ')}\n`);
  for (const test of tests) if (test.state === 'flaky') process.stdout.write(`${toProblem(test)}\n`);
};

const isCi = process.env.CI === 'true';
/** Seconds after which a test that has not ended is killed. In CI, two browsers run beside it on two processors. */
const usualLongest = isCi ? 120 : 60;
const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith('--'));
const flags = ['--coverage', '--long'];
const odd = words.find((word) => word.startsWith('--') && !flags.includes(word));
if (odd) {
  process.stderr.write(`There is no ${odd}; use ${flags.join(', ')}, or a part of a test file's path.\n`);
  process.exit(1);
}
const isMeasured = words.includes('--coverage');
const isLong = words.includes('--long');
const [files, specs] = ['.test.ts', '.spec.ts'].map((suffix) =>
  listTests(names, suffix).filter((file) => !isLong || hasLongForm(file)),
);
const unknown = names.filter((name) => ![...files, ...specs].some((file) => file.includes(name)));
if (unknown.length > 0) {
  process.stderr.write(`No test file${isLong ? ' with a long form' : ''} has ${unknown.join(' or ')} in its name.\n`);
  process.exit(1);
}
await prepare();
const before = readdirSync(root);
/** Folder for coverage, and for data that test processes prepare once for all. */
const shared = mkdtempSync(join(tmpdir(), 'signalbox-tests-'));
chmodSync(shared, 0o755);
process.on('exit', () => rmSync(shared, { recursive: true, force: true }));
const coverage = join(shared, 'coverage');
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
const begin = performance.now();
const environment = {
  TEST_SHARED_FOLDER: shared,
  ...(isMeasured && { NODE_V8_COVERAGE: coverage }),
  ...(isLong && { SIGNALBOX_TEST_LONG: '1' }),
};
const tests = await runTests(files, specs, {
  environment,
  longest: isLong || process.env.SIGNALBOX_FAULT_ROUNDS ? 7200 : usualLongest,
  verbose: isLong || names.length > 0,
  retry: isCi && !isLong,
});
printSlowest(tests);
printTotals(tests, (performance.now() - begin) / 1000);
const left = readdirSync(root).filter((entry) => !before.includes(entry));
const problems = [
  ...tests.filter(({ state }) => state === 'failed').map(toProblem),
  ...findEmpty([...files, ...specs], tests, isLong),
  ...(tests.length === 0 ? ['only npm run faults runs these tests'] : []),
  ...(names.length === 0 && !isLong ? checkStatements(tests) : []),
  ...(isCi ? findBadSkips(tests) : []),
  ...(left.length > 0 ? [`the tests left files behind: ${left.join(', ')}`] : []),
];
if (isMeasured && problems.length === 0) reportCoverage(coverage);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
