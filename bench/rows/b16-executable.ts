import { existsSync } from 'node:fs';
import { NotMeasurable } from '../support/not-measurable.ts';
import { takeTurns } from '../support/rounds.ts';
import { createScope } from '../support/scope.ts';
import { executable, startSignalbox } from '../support/signalbox.ts';
import type { Row } from './row.ts';

/** Startup time of the single executable beside the bundle. No server is pinned to a processor. */
export const executableStart: Row = {
  id: 'B16',
  measure: async ({ scope, rounds }) => {
    if (!existsSync(executable)) throw new NotMeasurable('there is no executable: npm run build:executable');
    const sides = [true, false].map((isExecutable) => async () => {
      const each = createScope(scope.folder);
      const { startMs } = await startSignalbox(each, undefined, { isExecutable });
      await each.end();
      return startMs;
    });
    const [ours = [], figures = []] = await takeTurns(rounds, sides);
    const start = { id: 'B16', work: 'start of the executable to first response', unit: ' ms', ours };
    const beside = { name: `Node ${process.versions.node}, dist/signalbox.js`, figures };
    // Both goals must be met, so each has a line.
    return [
      { ...start, goals: [{ of: 'value', atMost: 200 }] },
      { ...start, beside, goals: [{ of: 'ratio', atMost: 0.5 }] },
    ];
  },
};
