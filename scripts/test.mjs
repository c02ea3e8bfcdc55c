import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { run } from './dependencies.mjs';
import { prepare, root } from './prepare.mjs';

/** Lowest share of branches of src that the tests must reach, in percent. */
const minimumBranches = 95;

/** Compiled test files of the sources that there are now; names on the command line pick those that contain one. */
const listTests = (names) =>
  ['src', 'test', 'bench']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)),
    )
    .filter(
      (file) =>
        file.endsWith('.test.ts') && (names.length === 0 || names.some((name) => file.includes(name))),
    )
    .map((file) => join('dist', file.replace(/\.ts$/, '.js')))
    .sort();

/** Runs the files, passing on what is printed; resolves to the exit code and the runner's closing totals. */
const runTests = (files, coverage) =>
  new Promise((resolve) => {
    const args = [
      '--test',
      '--test-reporter=spec',
      '--test-timeout=400000',
      `--test-concurrency=${availableParallelism()}`,
      ...files,
    ];
    const tests = spawn(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_V8_COVERAGE: coverage, FORCE_COLOR: '0' },
    });
    const totals = [];
    createInterface({ input: tests.stdout }).on('line', (line) => {
      if (/^ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /.test(line)) totals.push(line);
      process.stdout.write(`${line}\n`);
    });
    tests.on('close', (code) => resolve({ code, totals }));
  });

const reportCoverage = (coverage) =>
  run(
    process.execPath,
    [
      join(root, 'node_modules', 'c8', 'bin', 'c8.js'),
      ...['report', '--temp-directory', coverage, '--all', '--src', 'dist/src', '--exclude-after-remap'],
      ...['--include', 'dist/src/**', '--include', 'src/**', '--exclude', '**/*.test.*'],
      ...['--reporter', 'text', '--skip-full', '--check-coverage', '--branches', String(minimumBranches)],
      ...['--lines', '0', '--functions', '0', '--statements', '0'],
    ],
    root,
  );

const names = process.argv.slice(2);
const files = listTests(names);
if (files.length === 0) {
  process.stderr.write(`No test file has ${names.join(' or ')} in its name.\n`);
  process.exit(1);
}
prepare();
const coverage = mkdtempSync(join(tmpdir(), 'signalbox-coverage-'));
process.on('exit', () => rmSync(coverage, { recursive: true, force: true }));
const { code, totals } = await runTests(files, coverage);
if (names.length === 0 && code === 0) reportCoverage(coverage);
process.stdout.write(`${totals.join('\n')}\n`);
process.exitCode = code;
