import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/app/package-info.ts';

/** Packages that only tests of the client use, in locked versions. */
export const clientTools = join(packageRoot, 'dist', 'client-tools', 'node_modules');

/** Why a test cannot use a file of those packages; in CI it fails instead. */
export const skipWithout = (file: string): string | false =>
  !existsSync(join(clientTools, file)) &&
  process.env['CI'] !== 'true' &&
  'node scripts/install-client-tools.mjs was not run';
