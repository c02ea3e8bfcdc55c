import { readFileSync } from 'node:fs';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

// Runs TypeScript sources on Node 20: `node --import ./test/runner/typescript.mjs FILE.ts`; later versions strip types.
if (isMainThread && !process.features.typescript) register(import.meta.url);

/** Module hook in its own thread: removes the types from a source. */
export const load = async (url, context, nextLoad) => {
  if (!/^file:.*(?<!\/node_modules\/.*)\.ts$/.test(url)) return nextLoad(url, context);
  const { transformSync } = await import('@swc/core');
  const filename = fileURLToPath(url);
  const jsc = { target: 'es2022', parser: { syntax: 'typescript' }, transform: { verbatimModuleSyntax: true } };
  const options = { filename, jsc, swcrc: false, sourceMaps: 'inline' };
  return { format: 'module', shortCircuit: true, source: transformSync(readFileSync(filename, 'utf8'), options).code };
};
