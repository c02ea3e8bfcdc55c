import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

/** Runs the test files that are named on the command line in this process, one after the other, once all are loaded. */
let begin;
test('load', () => new Promise((resolve) => (begin = resolve)));
for (const file of process.argv.slice(2)) await import(pathToFileURL(file).href);
begin();
