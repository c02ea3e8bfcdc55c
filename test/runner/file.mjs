import { spawnSync } from 'node:child_process';
import { install } from '../../scripts/install.mjs';

// Runs test sources: `npm run test:file -- FILE ... [--watch] [--test-name-pattern=TEXT]`. Node reads its options first.
await install('tools');
const args = process.argv.slice(2).sort((one, other) => other.startsWith('--') - one.startsWith('--'));
// Node 20 cannot strip types. A single file needs no second process.
if (!process.features.typescript) args.unshift('--import', 'tsx');
if (args.filter((arg) => arg.endsWith('.ts')).length > 1) args.unshift('--test');
process.exitCode = spawnSync(process.execPath, ['--test-reporter=spec', ...args], { stdio: 'inherit' }).status ?? 1;
