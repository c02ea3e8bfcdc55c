import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare, root } from './prepare.mjs';

prepare();
// In this process, so that signals and the exit code are the program's own.
await import(pathToFileURL(join(root, 'dist', 'signalbox.js')).href);
