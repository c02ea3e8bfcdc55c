import { join } from 'node:path';
import { InstallError, installTools, root } from './install.mjs';
import { withLock } from './lock.mjs';

// Installs the locked packages of tools/client into dist/client-tools, unless they are installed: tests of the client
// in other programs and runtimes use them.

try {
  await withLock(
    root,
    () =>
      installTools(
        'client',
        join(root, 'dist', 'client-tools'),
        'Installing Bun, Deno and a client generator (230 MB) ...',
      ),
    () => undefined,
  );
} catch (error) {
  if (!(error instanceof InstallError)) throw error;
  process.stderr.write(`cannot install the tools for tests of the client: ${error.message}\n`);
  process.exitCode = 1;
}
