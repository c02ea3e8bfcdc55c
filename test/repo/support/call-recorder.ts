import { Session } from 'node:inspector';
import process from 'node:process';

/**
 * Preloaded into the program with `--import`. On SIGWINCH it prints one line to standard error, `entered URLS`: a JSON
 * list of the modules with a function called since the last signal.
 */
const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

process.on('SIGWINCH', () => {
  session.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error) throw error;
    const entered = result.filter(({ functions }) => functions.some(({ ranges: [whole] }) => whole && whole.count > 0));
    process.stderr.write(`entered ${JSON.stringify(entered.map(({ url }) => url))}\n`);
  });
});
