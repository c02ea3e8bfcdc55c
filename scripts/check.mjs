import { spawnSync } from 'node:child_process';
import { buildPackage } from './bundle.mjs';
import { install, root } from './install.mjs';

await install('tools', 'tools/client');
await buildPackage();

const tsc = 'node node_modules/typescript-native/bin/tsc --noEmit';
/**
 * Words that must not begin a docstring, or a string in the console, because both begin with the name of the thing or
 * the action.
 */
const beginning = '(What|Who|Whoever|Those|That|Whether|How|Where|Of|So)\\b';
const code = '"*.ts" "*.tsx" "*.mjs" "*.cjs"';

/** Commands of packages. npm has put their folder into PATH. */
const checks = {
  'format and lint': 'biome check --error-on-warnings .',
  types: tsc,
  'types of the console': `${tsc} --project console`,
  'types of the browser tests': `${tsc} --project test/e2e`,
  'import rules': 'depcruise --config .dependency-cruiser.mjs src console',
  'unused code and dependencies': 'knip',
  'OpenAPI document': 'redocly lint --config redocly.yaml dist/openapi.json',
  'generated tables in documents': 'node tools/docs/reference/tables.mjs --check',
  'beginning of docstrings': `git grep -nP "^ *(/\\*\\*|\\*) +${beginning}" -- ${code}`,
  'spread literals': `git grep -nP "\\.\\.\\.\\{( |$)" -- ${code}`,
  'beginning of texts': `git grep -nP "[\\x27\\x22\\x60]${beginning}" -- console/strings`,
};
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
const failed = Object.entries(checks).filter(([name, command]) => {
  process.stdout.write(`\n== ${name}\n`);
  const { status } = spawnSync(command, { cwd: root, stdio: 'inherit', shell: true, env });
  // git grep exits with 1 if it finds nothing.
  return status !== (command.startsWith('git grep') ? 1 : 0);
});
const names = failed.map(([name]) => name).join(', ');
process.stdout.write(names === '' ? '\nAll checks pass.\n' : `\nFailed: ${names}\n`);
process.exitCode = names === '' ? 0 : 1;
