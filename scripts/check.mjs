import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { prepare, root } from './prepare.mjs';

const bin = (name) => join(root, 'node_modules', '.bin', name);

const checks = [
  ['format and lint', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['types', bin('tsc'), ['--noEmit']],
  ['import rules', bin('depcruise'), ['--config', '.dependency-cruiser.mjs', 'src']],
  ['unused code and dependencies', bin('knip'), []],
  ['OpenAPI document', process.execPath, ['scripts/lint-openapi.mjs']],
  ['table of commands', process.execPath, ['scripts/commands-table.mjs', '--check']],
  ['docs against code', process.execPath, ['--test', '--test-reporter=dot', 'dist/test/repo/']],
];

prepare();
const failed = checks.filter(([name, program, args]) => {
  process.stdout.write(`\n== ${name}\n`);
  const { status } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  return status !== 0;
});
process.stdout.write(
  failed.length === 0 ? '\nAll checks pass.\n' : `\nFailed: ${failed.map(([name]) => name).join(', ')}\n`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
