import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/server/package-info.ts';

/** Returns the program of another runtime, in the version of tools/runtimes. */
export const toRuntimePath = (file: string): string => join(packageRoot, 'node_modules', file);

/** Returns the reason why a test cannot use a runtime; in CI the test fails instead. */
export const skipWithout = (file: string): string | false =>
  !existsSync(toRuntimePath(file)) &&
  process.env['CI'] !== 'true' &&
  'npm install --no-save --workspace=tools/runtimes was not run';
