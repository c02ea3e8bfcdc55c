import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '../../scripts/install.mjs';
import { mark, wholeFile } from './reporter.mjs';

/**
 * `groupSizes`: maximum number of files that share a process, by the beginning of their area; the first match counts. A
 * process takes most of a second to load the program, and runs its files one after the other. `ownProcess`: beginnings
 * of paths of files that need a separate process, with the reasons. `again`: `{files, variables}`; files whose path
 * matches `files` run once more with these environment variables. `first`: beginnings of paths of slow files, in the
 * order in which they begin, so that nothing slow is left at the end. `onlyNamed`: beginnings of paths of files that
 * run only if named, with the reasons; .ci/run names them.
 */
const {
  groupSizes,
  ownProcess,
  onlyNamed,
  again: repeated,
  first,
} = JSON.parse(readFileSync(join(root, 'test', 'runner', 'processes.json'), 'utf8'));

/** Lists test files of the current sources that end in the suffix; names select files whose path contains a name. */
export const listTests = (names, suffix = '.test.ts') =>
  ['src', 'test', 'bench']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)))
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith(suffix))
    .filter((file) => (names.length > 0 ? names.some((name) => file.includes(name)) : !isOnlyNamed(file)))
    .sort();

const isOnlyNamed = (file) => Object.keys(onlyNamed).some((name) => file.startsWith(name));

/**
 * Runs test files, several in each process, and prints failures; with `verbose`, all tests. Resolves to the ended tests
 * `{file, name, nesting, state, seconds, text}`. A process whose current test takes more than `longest` seconds is
 * killed with all its children. With `retry`, files with failures run once more, alone, and their failures become flaky
 * if all their tests pass then.
 */
export const runTests = async (files, specs, { environment, longest, verbose, retry }) => {
  const options = { environment, longest, verbose };
  // One lane more than processors, since tests wait a lot, and another once the browser tests have ended.
  const browserTests = runBrowserTests(specs, environment);
  const lanes = [...Array(availableParallelism() + 1), browserTests];
  const tests = await runGroups(toGroups(files), { ...options, lanes });
  return [...(retry ? await retryFailed(tests, options) : tests), ...(await browserTests)];
};

/** Runs files with failures once more, alone; their failures become flaky if all their tests pass then. */
const retryFailed = async (tests, options) => {
  const failed = tests.filter(isFailed);
  const groups = new Map(failed.flatMap(toSuspects).map((each) => [toKey(each), { ...each, files: [each.file] }]));
  if (groups.size === 0 || groups.size > 20) return tests;
  process.stdout.write(`\nOnce more, alone: ${[...groups.values()].map(({ file }) => file).join(', ')}\n`);
  const again = await runGroups([...groups.values()], { ...options, longest: 3 * options.longest, lanes: [undefined] });
  const failedAgain = new Set(again.filter(isFailed).map(toKey));
  const isRepeated = (test) => toSuspects(test).some((each) => failedAgain.has(toKey(each)));
  const isSame = (one, other) => toKey(one) === toKey(other) && one.name === other.name;
  return [
    ...tests.filter((test) => !groups.has(toKey(test))),
    ...again.filter((test) => !failed.some((each) => isSame(each, test))),
    ...failed.map((test) => ({ ...test, state: isRepeated(test) ? 'failed' : 'flaky' })),
  ];
};

const isFailed = ({ state }) => state === 'failed';

const toKey = ({ file, variables }) => JSON.stringify([file, variables]);

/** Returns the files that may have caused a failure outside of tests: all files of the process. */
const toSuspects = ({ file, name, group, variables }) =>
  (name === wholeFile ? group : [file]).map((each) => ({ file: each, variables }));

/**
 * Runs browser tests with Playwright, which prints and repeats them itself. Resolves to the tests as `runGroups` does.
 */
const runBrowserTests = async (files, environment) => {
  if (files.length === 0) return [];
  const results = join(root, 'dist', 'e2e', 'results.jsonl');
  rmSync(results, { force: true });
  const args = [join('node_modules', '@playwright', 'test', 'cli.js'), 'test', '--config', 'test/e2e', ...files];
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env });
  const stop = () => child.kill();
  process.once('exit', stop);
  const [status] = await once(child, 'exit');
  process.removeListener('exit', stop);
  const lines = existsSync(results) ? readFileSync(results, 'utf8').trim().split('\n') : [];
  const tests = lines.filter(Boolean).map((line) => JSON.parse(line));
  if ((status === 0 && tests.length > 0) || tests.some(isFailed)) return tests;
  return [...tests, { file: 'test/e2e', name: wholeFile, nesting: 0, state: 'failed', seconds: 0 }];
};

/** Forms groups `{files, variables}`. Files of a folder are together; slow files come first. */
const toGroups = (files) => {
  const again = repeated.flatMap(({ files: pattern, variables }) =>
    shareProcesses(files.filter((file) => new RegExp(pattern).test(file))).map((group) => ({ ...group, variables })),
  );
  const rank = ({ files: [file] }) => [...first, ''].findIndex((beginning) => file.startsWith(beginning));
  return [...shareProcesses(files), ...again].sort((one, other) => rank(one) - rank(other));
};

/** Returns the area of a file; files of the same area may share a process. */
const toArea = (file) => {
  const area = dirname(file).split('/').slice(0, 2).join('/');
  return /^src\/(?!features|storage)/.test(`${area}/`) ? 'src' : area;
};

const shareProcesses = (files) => {
  const areas = new Map();
  for (const file of files) {
    const isAlone = Object.keys(ownProcess).some((name) => file.startsWith(name));
    const area = isAlone ? file : toArea(file);
    areas.set(area, [...(areas.get(area) ?? []), file]);
  }
  return [...areas].flatMap(([area, members]) => {
    const [, size] = Object.entries(groupSizes).find(([beginning]) => area.startsWith(beginning));
    const count = Math.ceil(members.length / size);
    return Array.from({ length: count }, (_, index) => ({ files: members.filter((_, at) => at % count === index) }));
  });
};

/** Runs groups in parallel lanes, each of which begins once its promise is fulfilled. */
const runGroups = async (groups, { lanes, ...options }) => {
  const waiting = [...groups];
  const tests = [];
  const runLane = async (begin) => {
    await begin;
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
      const { ended, unfinished } = await runGroup(group, options);
      tests.push(...ended);
      waiting.push(...unfinished.map((file) => ({ ...group, files: [file] })));
    }
  };
  await Promise.all(lanes.map(runLane));
  return tests;
};

/**
 * Runs files in one process. Resolves to the ended tests, and the files that did not begin because the process ended
 * early. All remaining processes of the tests are killed.
 */
const runGroup = ({ files, variables }, { environment, longest, verbose }) =>
  new Promise((resolve) => {
    const compiled = files.map((file) => join(root, 'dist', file.replace(/\.ts$/, '.js')));
    const reporter = '--test-reporter=./test/runner/reporter.mjs';
    const child = spawn(process.execPath, [reporter, 'test/runner/group.mjs', ...compiled], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, FORCE_COLOR: '0', ...environment, ...variables },
      detached: true,
    });
    const begin = performance.now();
    const ended = [];
    const errors = [];
    let begun = 0;
    let current;
    let timer;
    const stop = () => killGroup(child.pid);
    const watch = () => {
      clearTimeout(timer);
      // Outside of tests, files load, which is slow, and end prepared services.
      const limit = (current ? 1 : 3) * longest;
      timer = setTimeout(() => {
        errors.push(`not ended within ${limit} s`);
        stop();
      }, limit * 1000);
    };
    process.once('exit', stop);
    watch();
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (!line.startsWith(mark)) return process.stdout.write(`${line}\n`);
      const { file: path, error, ...rest } = JSON.parse(line.slice(mark.length));
      const place = compiled.indexOf(path);
      const record = { file: files.at(place), ...rest };
      if (error !== undefined) return errors.push(error);
      if (record.nesting === undefined && record.note === undefined) {
        begun = place === -1 ? files.length : place;
        current = record.name === wholeFile ? undefined : record.name;
        return watch();
      }
      if (record.nesting === 0) {
        current = undefined;
        watch();
      }
      if (record.state !== undefined) ended.push({ ...record, variables, group: files });
      return print(record, verbose);
    });
    child.on('exit', () => {
      clearTimeout(timer);
      process.removeListener('exit', stop);
      stop();
      setTimeout(() => child.stdout.destroy(), 1000).unref();
    });
    child.on('close', (code, signal) => {
      const isEarly = begun < files.length || (code !== 0 && !ended.some(isFailed));
      if (errors.length === 0 && isEarly) errors.push(`the process ended early: ${signal ?? `exit code ${code}`}`);
      if (errors.length > 0) {
        const place = { file: files[begun] ?? files.at(-1), name: current ?? wholeFile, variables, group: files };
        ended.push({ ...place, nesting: 0, state: 'failed', seconds: 0, text: errors.join('\n') });
        print(ended.at(-1), verbose);
      }
      if (!verbose) printGroup(files, variables, performance.now() - begin);
      resolve({ ended, unfinished: files.slice(begun + 1) });
    });
  });

const killGroup = (pid) => {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // No process of the group is left.
    if (error.code !== 'ESRCH') throw error;
  }
};

const printGroup = (files, variables = {}, milliseconds = 0) => {
  const others = files.length > 1 ? ` and ${files.length - 1} more` : '';
  const all = [`${files[0]}${others}`, ...Object.entries(variables).map((pair) => pair.join('='))].join(', ');
  process.stdout.write(`${(milliseconds / 1000).toFixed(1).padStart(6)} s  ${all}\n`);
};

const signs = { passed: '✔', failed: '✖', skipped: '﹣' };

const print = ({ file, name, nesting = 0, state, seconds, text, note }, verbose) => {
  if (note !== undefined) return process.stdout.write(`ℹ ${note}\n`);
  const reason = state === 'skipped' ? ` # ${text}` : '';
  const line = `${'  '.repeat(nesting)}${signs[state]} ${name} (${(seconds * 1000).toFixed(0)} ms)${reason}\n`;
  if (state === 'failed') return process.stdout.write(`${line}  at ${file}\n${text}\n`);
  return verbose ? process.stdout.write(line) : undefined;
};
