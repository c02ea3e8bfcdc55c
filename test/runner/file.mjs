import { spawnSync } from 'node:child_process';

// Runs test sources: `npm run test:file -- FILE ... [--watch] [--test-name-pattern=TEXT]`. Node reads its options
// first.
const args = process.argv.slice(2).sort((one, other) => other.startsWith('--') - one.startsWith('--'));
// Node 20 cannot strip types.
const loader = process.features.typescript ? [] : ['--import', 'tsx'];
// A single file needs no second process.
const several = args.filter((arg) => !arg.startsWith('--')).length > 1 ? ['--test'] : [];
const all = [...loader, '--test-reporter=spec', ...several, ...args];
process.exitCode = spawnSync(process.execPath, all, { stdio: 'inherit' }).status ?? 1;
