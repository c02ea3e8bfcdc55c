import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureDependencies, run } from './dependencies.mjs';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Brings dependencies and `dist/` up to date; the compiler itself knows which sources are newer. */
export const prepare = () => {
  ensureDependencies(root);
  run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '--build'], root);
};
