import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/server/package-info.ts';

/** Packages of tools/client, which the build has installed: the generator of the client's types. */
export const clientTools = join(packageRoot, 'tools', 'client', 'node_modules');

const runtimes = join(packageRoot, 'tools', 'runtimes', 'node_modules');

/** Returns the program of another runtime, in the version of tools/runtimes. */
export const toRuntimePath = (file: string): string => join(runtimes, file);

/** Returns the reason why a test cannot use a runtime; in CI the test fails instead. */
export const skipWithout = (file: string): string | false =>
  !existsSync(toRuntimePath(file)) && process.env['CI'] !== 'true' && 'npm ci --prefix tools/runtimes was not run';
