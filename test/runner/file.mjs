import { spawnSync } from 'node:child_process';

// Runs test sources: `npm run test:file -- FILE ... [--watch] [--test-name-pattern=TEXT] [--inspect-brk]`.
const args = process.argv.slice(2);
const files = args.filter((arg) => !arg.startsWith('--'));
const flags = args.filter((arg) => arg.startsWith('--'));
// Node 20 cannot strip types.
const loader = process.features.typescript ? [] : ['--import', 'tsx'];
// A single file needs no second process.
const several = files.length === 1 ? [] : ['--test'];
const all = [...loader, '--test-reporter=spec', ...flags, ...several, ...files];
process.exitCode = spawnSync(process.execPath, all, { stdio: 'inherit' }).status ?? 1;
