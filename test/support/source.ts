import { extname } from 'node:path';

/** Extension of this project's modules: `.ts`, or `.js` once they are compiled. */
export const extension = extname(import.meta.url);

/** Node flags for a child process that loads modules of this project: Node 20 needs a loader for TypeScript. */
export const loader =
  extension === '.js' || 'typescript' in process.features ? [] : ['--import', import.meta.resolve('tsx')];
