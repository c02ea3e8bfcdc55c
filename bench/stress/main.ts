import { isMissed } from '../support/finding.ts';
import { type Row, runRows } from '../support/run.ts';
import { measureHostileSettings } from './hostile-settings.ts';
import { measureNotifications } from './notifications.ts';
import { measureOverload } from './overload.ts';

const rows: readonly Row[] = [
  ['overload', measureOverload],
  ['notifications', measureNotifications],
  ['hostile-settings', measureHostileSettings],
];

/**
 * Measures the parts named on the command line, or all parts, and prints the results. See README.md. Exit code 1 means
 * that a goal was missed.
 */
const { findings, gaps } = await runRows('stress', rows, process.argv.slice(2));
if (gaps.length > 0 || findings.some(isMissed)) process.exitCode = 1;
