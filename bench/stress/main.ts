import { isMissed } from '../support/finding.ts';
import { runRows } from '../support/run.ts';
import { stressRows } from './hostile.ts';

/** Measures the parts named on the command line, or all, and prints them. See README.md. Exit code 1: a goal is missed. */
const { findings, gaps } = await runRows('stress', stressRows, process.argv.slice(2));
if (gaps.length > 0 || findings.some(isMissed)) process.exitCode = 1;
