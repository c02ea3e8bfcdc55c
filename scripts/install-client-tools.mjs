import { join } from 'node:path';
import { InstallError, installTools, root } from './install.mjs';
import { withLock } from './lock.mjs';

// Installs the locked packages of tools/runtimes into dist/runtimes, unless they are installed: tests of the client run in
// them.

const install = () => installTools('runtimes', join(root, 'dist', 'runtimes'), 'Installing Bun and Deno (190 MB) ...');

try {
  await withLock(root, install, () => undefined);
} catch (error) {
  if (!(error instanceof InstallError)) throw error;
  process.stderr.write(`cannot install the runtimes for tests of the client: ${error.message}\n`);
  process.exitCode = 1;
}
