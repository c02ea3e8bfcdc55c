import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amount, cases, rounds } from '../../support/long.ts';
import { diskPrograms } from './support/disk.ts';
import { alerts } from './support/kept.ts';
import { keepTasks } from './support/kept-tasks.ts';
import { cutPower } from './support/power-cut.ts';
import { requires } from './support/requirements.ts';

const needs = requires({ programs: diskPrograms, mounts: true, loops: true });

for (const kept of [alerts, keepTasks(amount(1000, 100_000))]) {
  for (const kind of cases(['ext4', 'xfs'] as const)) {
    test(`a power cut on ${kind} neither loses nor duplicates acknowledged ${kept.what}s`, needs, async (t) => {
      const what = `power cut, ${kept.what}s, ${kind}`;
      const tally = await cutPower(t, { what, kind, kept, rounds: rounds(1, 500) });
      const { lost, duplicated, misplaced, wrong } = tally;
      assert.deepEqual({ lost, duplicated, misplaced, wrong }, { lost: 0, duplicated: 0, misplaced: 0, wrong: 0 });
      assert.ok(tally.acknowledged > 0);
    });
  }
}
