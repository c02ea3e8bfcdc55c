import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildPackage } from './bundle.mjs';
import { install, readJson, root } from './install.mjs';

await install(['tools', 'client']);
await buildPackage();

/** Returns the arguments with which Node runs a command of a package: files in .bin need a shell on Windows. */
const tool = (name, command, ...args) => {
  const { bin } = readJson('node_modules', name, 'package.json');
  return [process.execPath, join('node_modules', name, typeof bin === 'string' ? bin : bin[command]), ...args];
};
const tsc = (...args) => tool('typescript-native', 'tsc', '--noEmit', ...args);

/** Docstrings, and texts of the console, begin with the name of the thing or the action. */
const beginning = '(What|Who|Whoever|Those|That|Whether|How|Where|Of|So)\\b';
const grep = (pattern, ...paths) => ['git', 'grep', '-nP', pattern, '--', ...paths];

const checks = {
  'format and lint': tool('@biomejs/biome', 'biome', 'check', '--error-on-warnings', '.'),
  types: tsc(),
  'types of the console': tsc('--project', 'console'),
  'types of the browser tests': tsc('--project', 'test/e2e'),
  'import rules': tool('dependency-cruiser', 'depcruise', '--config', '.dependency-cruiser.mjs', 'src', 'console'),
  'unused code and dependencies': tool('knip', 'knip'),
  'OpenAPI document': tool('@redocly/cli', 'redocly', 'lint', '--config', 'redocly.yaml', 'dist/openapi.json'),
  'generated tables in documents': [process.execPath, 'tools/docs/reference/tables.mjs', '--check'],
  'beginning of docstrings': grep(`^ *(/\\*\\*|\\*) +${beginning}`, '*.ts', '*.tsx', '*.mjs', '*.cjs'),
  'spread literals': grep('\\.\\.\\.\\{( |$)', '*.ts', '*.tsx', '*.mjs', '*.cjs'),
  'beginning of texts': grep(`['"\`]${beginning}`, 'console/strings'),
};
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
const failed = Object.entries(checks).filter(([name, [program, ...args]]) => {
  process.stdout.write(`\n== ${name}\n`);
  const { status } = spawnSync(program, args, { cwd: root, stdio: 'inherit', env });
  // A search fails if it finds nothing.
  return status !== (program === 'git' ? 1 : 0);
});
const names = failed.map(([name]) => name).join(', ');
process.stdout.write(names === '' ? '\nAll checks pass.\n' : `\nFailed: ${names}\n`);
process.exitCode = names === '' ? 0 : 1;
