import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

/** Root of the repository. Its folder `dist` contains the built program. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Compiles a module for a measured process, so that the process itself loads no compiler. Returns the absolute path of
 * the result. `module` is a path from the repository's root without its extension.
 */
export const compile = (module: string): string => {
  const outfile = join(root, 'dist', 'bench', `${basename(module)}.mjs`);
  buildSync({
    entryPoints: [join(root, `${module}.ts`)],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  return outfile;
};
