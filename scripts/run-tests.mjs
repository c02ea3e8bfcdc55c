import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './prepare.mjs';

/** Compiled test files of the current sources; names select those whose path contains one of them. */
export const listTests = (names) =>
  ['src', 'test', 'bench']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)))
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.test.ts') && (names.length === 0 || names.some((name) => file.includes(name))))
    .map((file) => join('dist', file.replace(/\.ts$/, '.js')))
    .sort();

/**
 * Runs compiled test files and prints their reports. Resolves to the exit code, the runner's totals, the tests
 * `{file, name, outcome}` (passed, skipped or failed), those skipped `{file, name, skipped}` with the reason, and the files
 * `{file, seconds}`, with the paths of the sources.
 */
export const runTests = async (files, environment = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-results-'));
  const results = join(folder, 'results.jsonl');
  const args = [
    '--test',
    '--test-timeout=400000',
    `--test-concurrency=${availableParallelism()}`,
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...['--test-reporter=./scripts/test-results.mjs', `--test-reporter-destination=${results}`],
    ...files,
  ];
  try {
    const { code, totals } = await print(args, environment);
    const records = readFileSync(results, 'utf8').trim().split('\n').map(readRecord);
    return {
      code,
      totals,
      tests: records.filter(({ outcome }) => outcome !== undefined),
      skips: records.filter(({ skipped }) => skipped !== undefined),
      times: records.filter(({ seconds }) => seconds !== undefined),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const print = (args, environment) =>
  new Promise((resolve) => {
    const tests = spawn(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, FORCE_COLOR: '0', ...environment },
    });
    const totals = [];
    createInterface({ input: tests.stdout }).on('line', (line) => {
      if (/^ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /.test(line)) totals.push(line);
      process.stdout.write(`${line}\n`);
    });
    tests.on('close', (code) => resolve({ code, totals }));
  });

const readRecord = (line) => {
  const { file, ...record } = JSON.parse(line);
  const source = relative(join(root, 'dist'), file).replace(/\.js$/, '.ts');
  return { ...record, file: source.replaceAll('\\', '/') };
};
