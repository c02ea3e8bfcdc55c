import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { listTests, toGroups, writeGroup } from '../test/runner/groups.mjs';
import { prepare, root } from './prepare.mjs';

/** Accepted reasons for skipping a test in CI, where everything tests need is installed. */
const allowedSkips = [
  // Node 20 and 22; .ci/run runs these tests on Node 24, too.
  'this version of Node has no argon2 of its own',
  // The program as published runs these tests, too.
  'no other module can be loaded into the executable',
  // These files run with three stores; each test runs only with the store it concerns.
  'this store keeps tasks and items',
  'two long lists at once may use the database',
  // A shallow clone cannot build 1.0.0.
  'the history of the repository is not here: git fetch --unshallow',
];

const { values, positionals: names } = parseArgs({ options: { long: { type: 'boolean' } }, allowPositionals: true });
const isCi = process.env.CI === 'true';
const env = { ...process.env, FORCE_COLOR: '0', ...(values.long && { SIGNALBOX_TEST_LONG: '1' }) };

/** Timeout of a test in seconds. In CI, two browsers run at the same time on two processors. */
const seconds = values.long || env.SIGNALBOX_FAULT_ROUNDS ? 7200 : isCi ? 120 : 60;

/** True if a test of the file has a long form: more kills, failovers, requests or records. */
const hasLongForm = (file) => /\/(long|rounds|task-store)\.ts'|\bisLong\b/.test(readFileSync(join(root, file), 'utf8'));

/** Waits until a process ends; kills the processes it leaves behind, even if this process ends first. */
const waitForEnd = async (child) => {
  const kill = () => {
    try {
      return process.kill(-child.pid, 'SIGKILL');
    } catch {
      return false;
    }
  };
  process.once('exit', kill);
  const [status] = await once(child, 'exit');
  process.removeListener('exit', kill);
  // Processes that end with their parents take a moment.
  await setTimeout(1000);
  if (kill()) process.stdout.write('Killed processes that tests left behind.\n');
  return status;
};

/** Runs groups of test files; resolves to the tests of test/runner/run.mjs. */
const runGroups = async (groups, concurrency) => {
  const folder = mkdtempSync(join(env.TEST_SHARED_FOLDER, 'groups-'));
  const modules = groups.map((group, index) => writeGroup(folder, group, index));
  const loader = new URL('../test/runner/typescript.mjs', import.meta.url).href;
  const execArgv = ['--import', loader, `--test-timeout=${seconds * 1000}`];
  const child = fork('test/runner/run.mjs', { cwd: root, env, execArgv, detached: true });
  child.send({ files: modules, concurrency, timeout: 20_000 * seconds });
  let tests = [{ file: 'test/runner/run.mjs', name: 'the run ends', state: 'failed', text: '' }];
  child.once('message', (message) => (tests = message));
  await waitForEnd(child);
  const all = groups.flatMap((group) => group.files);
  // A test shared by several files has the path of another file in their folder.
  const toFiles = (path) => (all.includes(path) ? [path] : all.filter((file) => dirname(file) === dirname(path)));
  return tests.map(({ file: path, ...test }) => {
    const file = relative(root, path).replaceAll('\\', '/');
    const members = groups[modules.indexOf(path)]?.files;
    // A failure outside of tests has the group's module as its file.
    return { ...test, file: members?.join(', ') ?? file, files: members ?? toFiles(file) };
  });
};

/** Runs test files; in CI, files with failures run once more, each alone, and count as flaky if they pass. */
const runFiles = async (files) => {
  const groups = toGroups(files);
  // One process more than there are processors, since tests wait a lot.
  const tests = await runGroups(groups, availableParallelism() + 1);
  const failed = tests.filter(({ state, files }) => state === 'failed' && files.length > 0);
  const names = new Set(failed.flatMap((test) => test.files));
  const again = groups.flatMap(({ files, store }) =>
    files.filter((file) => names.has(file)).map((file) => ({ files: [file], store })),
  );
  if (!isCi || values.long || again.length === 0 || again.length > 20) return tests;
  process.stdout.write(`\nOnce more, each alone: ${[...names].join(', ')}\n`);
  const repeated = await runGroups(again, 1);
  const still = new Set(repeated.filter(({ state }) => state === 'failed').flatMap((test) => test.files));
  const flaky = failed.filter((test) => !test.files.some((file) => still.has(file)));
  const others = tests.filter((test) => !failed.includes(test) && !names.has(test.file));
  return [...others, ...repeated, ...flaky.map((test) => ({ ...test, state: 'flaky' }))];
};

/** Runs browser tests with Playwright, which prints them, and repeats them in CI. */
const runSpecs = async (specs) => {
  const path = join(root, 'dist', 'e2e', 'results.jsonl');
  rmSync(path, { force: true });
  const args = ['node_modules/@playwright/test/cli.js', 'test', '--config', 'test/e2e', ...specs];
  const status = await waitForEnd(spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env, detached: true }));
  const tests = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean).map(JSON.parse) : [];
  if (status === 0 || tests.some(({ state }) => state === 'failed')) return tests;
  return [...tests, { file: 'test/e2e', name: 'Playwright ends', state: 'failed', text: `exit code ${status}` }];
};

const [files, specs] = ['.test.ts', '.spec.ts'].map((suffix) =>
  listTests(names, suffix).filter((file) => !values.long || hasLongForm(file)),
);
const unknown = names.filter((name) => ![...files, ...specs].some((file) => file.includes(name)));
if (unknown.length > 0) {
  process.stderr.write(
    `No test file${values.long ? ' with a long form' : ''} has ${unknown.join(' or ')} in its path.\n`,
  );
  process.exit(1);
}
await prepare();
const before = readdirSync(root);
/** Folder for the groups' modules, and for data that test processes prepare once for all. */
env.TEST_SHARED_FOLDER = mkdtempSync(join(tmpdir(), 'signalbox-tests-'));
chmodSync(env.TEST_SHARED_FOLDER, 0o755);
process.on('exit', () => rmSync(env.TEST_SHARED_FOLDER, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

const begin = performance.now();
const parts = [files.length > 0 && runFiles(files), specs.length > 0 && runSpecs(specs)].filter(Boolean);
const tests = (await Promise.all(parts)).flat();
const toLine = ({ file, name, state, text }) => `${state}: ${file}: ${name}\n  ${text.split('\n', 12).join('\n  ')}\n`;
const list = (wanted) => tests.filter(({ state }) => state === wanted);
const left = readdirSync(root).filter((entry) => !before.includes(entry));
const problems = [
  ...list('failed').map(toLine),
  ...(isCi ? list('skipped').filter(({ text }) => !allowedSkips.includes(text)) : []).map(toLine),
  ...(left.length > 0 ? [`the tests left files behind: ${left.join(', ')}\n`] : []),
  ...(tests.length === 0 ? ['only npm run faults runs these tests\n'] : []),
];
for (const test of list('flaky')) process.stdout.write(toLine(test));
for (const problem of problems) process.stderr.write(problem);
const counts = ['passed', 'failed', 'flaky', 'skipped'].map((state) => `${list(state).length} ${state}`).join(', ');
process.stdout.write(`\n${counts} in ${((performance.now() - begin) / 1000).toFixed(0)} s\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
