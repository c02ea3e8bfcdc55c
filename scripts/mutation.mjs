import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { prepare, root } from './prepare.mjs';
import { listTests } from './run-tests.mjs';

/** Minimum share of mutants that the tests must notice, in percent. */
const goal = 90;

/** The modules that mutation testing covers: folders or files, whose own tests must notice a change in them. */
const modules = {
  commands: ['src/profiles/commands/language', 'src/profiles/commands/policy'],
  journal: ['src/storage/journal'],
  validation: ['src/http/request', 'src/profiles/tasks/validation'],
  auth: ['src/auth'],
};

const options = (paths) => ({
  mutate: paths.flatMap((path) => [`${path}.ts`, `${path}/**/*.ts`, `!${path}/**/*.test.ts`]),
  testRunner: 'tap',
  plugins: ['@stryker-mutator/tap-runner'],
  tap: {
    testFiles: listTests(paths).map((file) => join('dist', file.replace(/\.ts$/, '.js'))),
    nodeArgs: ['--test-reporter=tap', '-r', '{{hookFile}}', '{{testFile}}'],
  },
  coverageAnalysis: 'perTest',
  // One build contains all mutants, and a variable selects the active one. Their types need not be valid.
  buildCommand: 'tsc --noCheck',
  disableTypeChecks: false,
  tsconfigFile: 'none',
  ignorePatterns: ['dist', 'coverage', 'data'],
  tempDirName: '.build-mutation',
  reporters: ['progress-append-only'],
  concurrency: 2,
  // Long enough for a busy machine: a mutant that takes longer counts as noticed.
  timeoutMS: 10_000,
  allowConsoleColors: false,
});

/** Counts a module's mutants by outcome; those that hang count as killed. */
const toCounts = (results) => {
  const count = (...statuses) => results.filter(({ status }) => statuses.includes(status)).length;
  const killed = count('Killed', 'Timeout');
  const survived = count('Survived', 'NoCoverage');
  return { mutants: killed + survived, killed, survived, score: (100 * killed) / (killed + survived) };
};

const toPlace = ({ fileName, location: { start }, mutatorName, replacement, status }) =>
  `${fileName}:${start.line}:${start.column} ${mutatorName} ${status}: ${replacement.replaceAll(/\s+/g, ' ')}`;

const runModule = async (name) => {
  process.stdout.write(`\n== ${name}\n`);
  const results = await new Stryker(options(modules[name])).runMutationTest();
  const alive = results.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  process.stdout.write(`\n${alive.map(toPlace).join('\n')}\n`);
  return { name, ...toCounts(results) };
};

await prepare();
const { Stryker } = await import('@stryker-mutator/core');
process.chdir(root);
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(modules, name));
if (unknown.length > 0) {
  process.stderr.write(`unknown module ${unknown.join(', ')}; choose from ${Object.keys(modules).join(', ')}\n`);
  process.exit(2);
}
const rows = [];
for (const name of asked.length > 0 ? asked : Object.keys(modules)) rows.push(await runModule(name));
rmSync(join(root, '.build-mutation'), { recursive: true, force: true });
process.stdout.write('\n| module | mutants | killed | survived | score |\n|---|---|---|---|---|\n');
for (const { name, mutants, killed, survived, score } of rows) {
  process.stdout.write(`| ${name} | ${mutants} | ${killed} | ${survived} | ${score.toFixed(1)} % |\n`);
}
process.exitCode = rows.every(({ score }) => score >= goal) ? 0 : 1;
