import { test } from 'node:test';
import { createRandom } from '../../support/random.ts';
import { startInstances } from './support/instances.ts';
import { runGroups } from './support/rounds.ts';
import { assertSound, runTrial } from './support/trial.ts';

test('kill -9 of the only instance with --store file loses and duplicates nothing', (t) =>
  runGroups(t, async (group, count) => {
    const instances = await startInstances(group, { store: 'file', count: 1 });
    const random = createRandom();
    for (let round = 0; round < count; round += 1) {
      const fault = async (): Promise<void> => {
        await instances.all[0].stop('SIGKILL');
        await instances.all[0].start();
      };
      assertSound(group, 'file, kill -9', await runTrial(group, { instances, random, fault, between: 2000 }));
    }
  }));
