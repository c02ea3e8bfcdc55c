import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { prepare, root } from './prepare.mjs';
import { listTests } from './run-tests.mjs';

/** Other faults happen this many times less often than failovers. */
const share = 10;

/** Runs the long form of one file and prints its output; resolves to the exit code and its summary lines. */
const runLong = (file, environment) =>
  new Promise((resolve) => {
    const tests = spawn(process.execPath, ['--test', '--test-reporter=spec', file], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...environment, FORCE_COLOR: '0' },
    });
    const summaries = [];
    createInterface({ input: tests.stdout }).on('line', (line) => {
      if (/\d+ operations, \d+ acknowledged/.test(line)) summaries.push(line.trim().replace(/^ℹ /, ''));
      process.stdout.write(`${line}\n`);
    });
    tests.on('close', (code) => resolve({ code, summaries }));
  });

const { values, positionals } = parseArgs({
  options: { failovers: { type: 'string', default: '50' }, seed: { type: 'string' } },
  allowPositionals: true,
});
const failovers = Number(values.failovers);
if (!Number.isInteger(failovers) || failovers < 1 || failovers > 1000) {
  process.stderr.write(
    'Usage: npm run scale-out -- [--failovers 1 to 1000] [--seed NUMBER] [NAME OF A TEST FILE ...]\n',
  );
  process.exit(2);
}
await prepare();
const files = listTests(['test/scale-out/']).filter(
  (file) => positionals.length === 0 || positionals.some((name) => file.includes(name)),
);
const summaries = [];
const failed = [];
for (const file of files) {
  process.stdout.write(`\n== ${file}\n`);
  // Each file of failovers has two tests, one for each version of PostgreSQL.
  const rounds = Math.ceil(failovers / (file.includes('failover') ? 2 : share));
  const environment = {
    SIGNALBOX_SCALE_OUT_ROUNDS: String(rounds),
    ...(values.seed !== undefined && { SIGNALBOX_TEST_SEED: values.seed }),
  };
  const outcome = await runLong(file, environment);
  summaries.push(...outcome.summaries);
  if (outcome.code !== 0) failed.push(file);
}
process.stdout.write(`\n${summaries.join('\n')}\n`);
process.stdout.write(failed.length === 0 ? '\nAll tests pass.\n' : `\nFailed: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 && files.length > 0 ? 0 : 1;
