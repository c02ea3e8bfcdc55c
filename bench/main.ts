import { readFileSync, writeFileSync } from 'node:fs';
import { rows } from './rows/index.ts';
import { insertBetweenMarkers } from './support/finding.ts';
import { parseArguments, runRows } from './support/run.ts';

/**
 * Measures the rows named on the command line, or all rows, and writes the table in bench/results.md. See README.md.
 */
const argv = process.argv.slice(2);
const { page } = parseArguments(argv);
const insert = (text: string): string => (page ? insertBetweenMarkers(readFileSync(page, 'utf8'), text) : '');
// Rejects a page without markers before measuring.
insert('');
const { text, hasFailed } = await runRows('bench', rows, argv);
if (page) writeFileSync(page, insert(text));
if (hasFailed) process.exitCode = 1;
