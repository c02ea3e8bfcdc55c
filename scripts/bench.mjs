import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare, root } from './prepare.mjs';

await prepare();
// In this process, so that a signal ends what it has started.
await import(pathToFileURL(join(root, 'dist', 'bench', 'main.js')).href);
