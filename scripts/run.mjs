import { prepare } from './prepare.mjs';

/** Compiles everything and runs a module with the arguments after it: `node scripts/run.mjs bench/main B2`. */
const [module] = process.argv.splice(2, 1);
await prepare();
// In this process, so a signal also ends its child processes.
await import(`../dist/${module}.js`);
