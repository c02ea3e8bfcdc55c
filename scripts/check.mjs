import { spawnSync } from 'node:child_process';
import { prepare, root, toolPath } from './prepare.mjs';

await prepare();
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
const checks = [
  ['format and lint', toolPath('@biomejs/biome', 'biome'), 'check', '--error-on-warnings', '.'],
  ['types', toolPath('typescript', 'tsc'), '--noEmit'],
  ['types of the console', toolPath('typescript', 'tsc'), '--project', 'console'],
  ['types of the browser tests', toolPath('typescript', 'tsc'), '--project', 'test/e2e'],
  ['import rules', toolPath('dependency-cruiser', 'depcruise'), '--config', '.dependency-cruiser.mjs', 'src'],
  ['unused code and dependencies', toolPath('knip', 'knip')],
  ['OpenAPI document', toolPath('@redocly/cli', 'redocly'), 'lint', '--config', 'redocly.yaml', 'dist/openapi.json'],
  ['docstrings', 'scripts/docstrings.mjs'],
  ['generated tables in documents', 'tools/docs/reference/tables.mjs', '--check'],
];
const failed = checks.filter(([name, ...args]) => {
  process.stdout.write(`\n== ${name}\n`);
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env });
  return status !== 0;
});
process.stdout.write(
  failed.length === 0 ? '\nAll checks pass.\n' : `\nFailed: ${failed.map(([name]) => name).join(', ')}\n`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
