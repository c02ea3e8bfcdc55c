import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { buildPackage, listFiles } from './bundle.mjs';
import { install, root } from './install.mjs';

/** Accepted reasons for skipping a test in CI, where everything tests need is installed. */
const allowedSkips = [
  'this version of Node has no argon2 of its own', // .ci/run runs these tests on Node 24, too.
  'no other module can be loaded into the executable', // The program as published runs these tests, too.
  'this store keeps tasks and items', // These files run with three stores; each test runs with the store it concerns.
  'two long lists at once may use the database',
  'the history of the repository is not here: git fetch --unshallow', // A shallow clone cannot build 1.0.0.
];
/** Files that run only if named: they break disks, kill, boot systemd, compare with other programs, and fuzz. */
const onlyNamed = /^test\/lab\//;
/** Files that need their own process: they kill, mount, change variables or the time zone, or hold many connections. */
const alone = /^test\/(lab|stores\/conformance-|conformance\/tasks-time)/;

const { CI, SIGNALBOX_TEST_LONG, SIGNALBOX_FAULT_ROUNDS } = process.env;
/** Folder for files that tests share. */
const shared = mkdtempSync(join(tmpdir(), 'signalbox-tests-'));
/** Timeout of a test in seconds. In CI, two browsers run at the same time on two processors. */
const seconds = SIGNALBOX_TEST_LONG || SIGNALBOX_FAULT_ROUNDS ? 7200 : CI ? 120 : 60;
const names = process.argv.slice(2);
const all = listFiles('src', 'test', 'bench').filter((file) => /\.(test|spec)\.ts$/.test(file));
const isChosen = (file) => (names.length > 0 ? names.some((name) => file.includes(name)) : !onlyNamed.test(file));
const files = all.filter(isChosen);

/** Runs test files in one process; resolves to the failures. */
const runFiles = async (paths) => {
  const module = `${join(mkdtempSync(join(shared, 'run-')), basename(paths[0]))}.mjs`;
  writeFileSync(module, paths.map((file) => `import '${pathToFileURL(join(root, file))}';\n`).join(''));
  const failures = [];
  const fail = ({ file, name }, text) => failures.push(`${file}: ${name}: ${text}\n`);
  const events = run({ files: [module], timeout: 20_000 * seconds, execArgv: process.execArgv });
  events.on('test:fail', (test) => fail(test, test.details.error.message));
  events.on('test:pass', (test) => {
    if (CI && test.skip && !allowedSkips.includes(test.skip)) fail(test, `skipped: ${test.skip}`);
  });
  events.on('test:diagnostic', ({ file, message }) => {
    if (message.includes('asynchronous activity after')) fail({ file, name: 'the tests end' }, message);
  });
  process.stdout.write((await events.compose(new spec()).toArray()).join(''));
  return failures;
};

/** Runs all tests, up to 16 files of a folder in a process, because loading the program takes most of a second. */
const runTests = async () => {
  const groups = [];
  for (const file of files.filter((each) => each.endsWith('.test.ts'))) {
    const area = alone.test(file) ? file : file.split('/').slice(0, 2).join('/');
    const group = groups.find((each) => each.area === area && each.files.length < 16);
    if (group) group.files.push(file);
    else groups.unshift({ area, files: [file] });
  }
  const queue = groups.values();
  const work = async () => {
    for (const group of queue) group.failures = await runFiles(group.files);
  };
  // One process more than there are processors, since tests wait a lot.
  await Promise.all(Array.from({ length: availableParallelism() + 1 }, work));
  const failed = groups.filter(({ failures }) => failures.length > 0);
  for (const group of CI && failed.length < 10 ? failed : []) {
    process.stdout.write(`\nFailed, and runs once more, each file alone:\n${group.failures.join('')}`);
    const known = group.files.filter((file) => group.failures.some((text) => text.startsWith(join(root, file))));
    group.failures = [];
    for (const file of known.length > 0 ? known : group.files) group.failures.push(...(await runFiles([file])));
  }
  return failed.flatMap(({ failures }) => failures);
};

/** Runs browser tests with Playwright, which prints them, and repeats them in CI. */
const runSpecs = async () => {
  const specs = files.filter((file) => file.endsWith('.spec.ts'));
  const args = ['node_modules/@playwright/test/cli.js', 'test', '--config', 'test/e2e', ...specs];
  const [status] = specs.length > 0 ? await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit') : [0];
  return status === 0 ? [] : ['browser tests\n'];
};

/** Lists the processes of this one's group, except ones that have ended. */
const listProcesses = () => {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pgid=,pid=,args='], { encoding: 'utf8' });
  const rows = [...String(stdout).matchAll(/^ *(\d+) +(\d+) (?!ps |.*<defunct>)(.*)$/gm)];
  const [, group] = rows.find(([, , pid]) => Number(pid) === process.pid) ?? [];
  return rows.filter((row) => row[1] === group).map(([row]) => row);
};

const unknown = names.filter((name) => !all.some((file) => file.includes(name)));
if (unknown.length > 0) throw new Error(`no test file has ${unknown.join(' or ')} in its path`);
await install(['tools', 'client']);
await buildPackage();
chmodSync(shared, 0o755);
Object.assign(process.env, { FORCE_COLOR: '0', TEST_SHARED_FOLDER: shared });
process.once('exit', () => rmSync(shared, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
// The test processes have the arguments of this one.
if (!process.features.typescript) process.execArgv.push('--import', import.meta.resolve('tsx'));
process.execArgv.push(`--test-timeout=${seconds * 1000}`);
const before = listProcesses();
const failures = (await Promise.all([runTests(), runSpecs()])).flat();
// Processes that end with their parents take a moment.
await setTimeout(1000);
const left = listProcesses().filter((line) => !before.includes(line));
failures.push(...left.map((line) => `a process was left behind: ${line}\n`));
process.stdout.write(failures.length === 0 ? '\nAll tests pass.\n' : `\nFailed:\n${failures.join('')}`);
process.exitCode = failures.length === 0 ? 0 : 1;
