import { pathToFileURL } from 'node:url';

/** Runs the test files that are named on the command line in this process, one after the other. */
for (const file of process.argv.slice(2)) await import(pathToFileURL(file).href);
