import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare, root } from './prepare.mjs';

await prepare();
// In this process, so a signal also ends its child processes.
await import(pathToFileURL(join(root, 'dist', 'bench', 'stress', 'main.js')).href);
