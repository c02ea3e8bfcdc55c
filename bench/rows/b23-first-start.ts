import { join } from 'node:path';
import { createClone, createHome, findObstacle, measureBytes, startServer } from '../../test/first-run/clone.ts';
import { NotMeasurable } from '../support/not-measurable.ts';
import type { Row } from './row.ts';

/** `npm start` in a fresh clone with an empty npm cache, and each later one. No process is pinned. */
export const firstStart: Row = {
  id: 'B23',
  measure: async ({ scope, rounds }) => {
    const obstacle = findObstacle();
    if (obstacle) throw new NotMeasurable(obstacle);
    const t = { after: scope.atEnd };
    const home = createHome(t);
    const clone = createClone(home);
    const start = async (): Promise<number> => {
      const { elapsed, stop } = await startServer(t, ['npm', 'start', '--'], clone, home);
      await stop();
      return elapsed / 1000;
    };
    const first = [await start()];
    const later: number[] = [];
    for (let round = 0; round < rounds; round += 1) later.push(await start());
    const installed = [measureBytes(join(clone, 'node_modules')) / 1e6];
    const row = { id: 'B23', unit: ' s' };
    return [
      { ...row, work: 'first npm start in a fresh clone', ours: first, goals: [{ of: 'value', atMost: 10 }] },
      { ...row, work: 'installed', unit: ' MB', ours: installed, goals: [{ of: 'value', atMost: 60 }] },
      { ...row, work: 'second npm start', ours: later, goals: [{ of: 'value', atMost: 1 }] },
    ];
  },
};
