import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { prepare, root } from './prepare.mjs';

const folder = join('dist', 'test', 'faults');

/** Compiled fault tests of the current sources; names on the command line select those that contain one of them. */
const listTests = (names) =>
  readdirSync(join(root, 'test', 'faults'))
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join(folder, file.replace(/\.ts$/, '.js')))
    .filter((file) => names.length === 0 || names.some((name) => file.includes(name)))
    .sort();

/** Runs the long form of one file and prints its output; resolves to the exit code and its summary lines. */
const runLong = (file) =>
  new Promise((resolve) => {
    const tests = spawn(process.execPath, ['--test', '--test-reporter=spec', file], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, SIGNALBOX_FAULTS: 'long', FORCE_COLOR: '0' },
    });
    const summaries = [];
    createInterface({ input: tests.stdout }).on('line', (line) => {
      // Lines of a subtest are indented.
      if (/^ℹ .*\d+ rounds, \d+ acknowledged/.test(line)) summaries.push(line.slice(2));
      process.stdout.write(`${line}\n`);
    });
    tests.on('close', (code) => resolve({ code, summaries }));
  });

await prepare();
const files = listTests(process.argv.slice(2));
const summaries = [];
const failed = [];
for (const file of files) {
  process.stdout.write(`\n== ${file}\n`);
  const outcome = await runLong(file);
  summaries.push(...outcome.summaries);
  if (outcome.code !== 0) failed.push(file);
}
process.stdout.write(`\n${summaries.join('\n')}\n`);
process.stdout.write(failed.length === 0 ? '\nAll fault tests pass.\n' : `\nFailed: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 && files.length > 0 ? 0 : 1;
