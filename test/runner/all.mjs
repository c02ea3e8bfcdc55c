import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { listFiles } from '../../scripts/bundle.mjs';
import { root } from '../../scripts/install.mjs';
import rules from './rules.json' with { type: 'json' };
import { printProcessorTime } from './time.mjs';

const { CI, SIGNALBOX_TEST_LONG, SIGNALBOX_FAULT_ROUNDS } = process.env;
/** Timeout of a test in seconds. In CI, two browsers run at the same time on two processors. */
const seconds = SIGNALBOX_TEST_LONG || SIGNALBOX_FAULT_ROUNDS ? 7200 : CI ? 120 : 60;
const names = process.argv.slice(2);
const all = listFiles('src', 'test', 'bench').filter((file) => /\.(test|spec)\.ts$/.test(file));
const unknown = names.filter((name) => !all.some((file) => file.includes(name)));
if (unknown.length > 0) throw new Error(`no test file has ${unknown.join(' or ')} in its path`);
const isIn = (paths, file) => paths.some((path) => file.startsWith(path));
const chosen = all.filter((file) => names.some((name) => file.includes(name)));
const files = names.length > 0 ? chosen : all.filter((file) => !isIn(rules.onlyNamed, file));
/** Folder for files that tests share. */
const shared = mkdtempSync(join(tmpdir(), 'signalbox-tests-'));
chmodSync(shared, 0o755);
Object.assign(process.env, { FORCE_COLOR: '0', TEST_SHARED_FOLDER: shared });
if (!process.features.typescript) process.execArgv.push('--import', import.meta.resolve('tsx'));
process.execArgv.push(`--test-timeout=${seconds * 1000}`);

/**
 * Writes modules that import up to `most` files of a folder each, because loading the program takes almost a second.
 */
const writeModules = (paths, most) => {
  const groups = [];
  for (const file of paths) {
    const area = isIn(rules.alone, file) ? file : file.split('/').slice(0, 2).join('/');
    const group = groups.find((each) => each.area === area && each.files.length < most);
    if (group) group.files.push(file);
    else groups.unshift({ area, files: [file] });
  }
  return groups.map(({ area, files }, index) => {
    const module = join(shared, `${most}-${index}-${area.replaceAll('/', '-')}.mjs`);
    const imports = files.map((file) => `import '${pathToFileURL(join(root, file))}';\n`);
    const time = `import { printProcessorTime } from '${new URL('time.mjs', import.meta.url)}';\n`;
    const end = `process.once('exit', () => printProcessorTime('${area}'));\n`;
    writeFileSync(module, [time, ...imports, end].join(''));
    return { module, files };
  });
};

/**
 * Runs test files, with more processes than processors. Returns the failures. In CI, failed files run again, one at a
 * time.
 */
const runTests = async (paths, most = 16) => {
  const modules = writeModules(paths, most);
  const failures = [];
  const fail = ({ file, name }, text) => failures.push({ file, text: `${file}: ${name}: ${text}\n` });
  const events = run({
    files: modules.map(({ module }) => module),
    concurrency: availableParallelism() + 1,
    timeout: 20_000 * seconds,
    execArgv: process.execArgv,
  });
  events.on('test:fail', (test) => fail(test, test.details.error.message));
  events.on('test:pass', (test) => {
    if (CI && test.skip && !(test.skip in rules.allowedSkips)) fail(test, `skipped: ${test.skip}`);
  });
  events.on('test:diagnostic', ({ file, message }) => {
    if (message.includes('asynchronous activity after')) fail({ file, name: 'the tests end' }, message);
  });
  for await (const text of events.compose(new spec())) process.stdout.write(text);
  const texts = failures.map(({ text }) => text);
  const isFailed = (module, file) => failures.some((each) => [module, join(root, file)].includes(each.file));
  const again = modules.flatMap(({ module, files }) => files.filter((file) => isFailed(module, file)));
  if (!CI || most === 1 || again.length === 0) return texts;
  process.stdout.write(`\nFailed, and runs once more, each file alone:\n${texts.join('')}`);
  return runTests(again, 1);
};

/** Runs browser tests with Playwright. Playwright prints them, and repeats them in CI. */
const runSpecs = async (specs) => {
  const args = ['node_modules/@playwright/test/cli.js', 'test', '--config', 'test/e2e', ...specs];
  const [status] = specs.length > 0 ? await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit') : [0];
  return status === 0 ? [] : ['browser tests\n'];
};

process.once('exit', () => rmSync(shared, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
const isSpec = (file) => file.endsWith('.spec.ts');
const failures = await Promise.all([runTests(files.filter((file) => !isSpec(file))), runSpecs(files.filter(isSpec))]);
const text = failures.flat().join('');
printProcessorTime('all tests, with their children');
process.stdout.write(text === '' ? '\nAll tests pass.\n' : `\nFailed:\n${text}`);
process.exitCode = text === '' ? 0 : 1;
