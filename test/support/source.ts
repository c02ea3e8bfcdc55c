import { extname } from 'node:path';

/** Extension of this project's modules: `.ts`, or `.js` once compiled. */
export const extension = extname(import.meta.url);

/**
 * Node flags for a child process that imports this project's modules. Needed because Node 20 does not strip types by
 * default.
 */
export const loader: string[] =
  extension === '.js' || ('typescript' in process.features && process.features.typescript)
    ? []
    : ['--import', import.meta.resolve('tsx')];
