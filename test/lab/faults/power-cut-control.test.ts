import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases, rounds } from '../../support/long.ts';
import { diskPrograms } from './support/disk.ts';
import { alerts } from './support/kept.ts';
import { keepTasks } from './support/kept-tasks.ts';
import { cutPower } from './support/power-cut.ts';
import { requires } from './support/requirements.ts';

/** Ways to turn off syncing: a library that turns every sync into a no-op, and signalbox's own setting. */
const ways = [
  { kept: alerts, what: 'under eatmydata', programs: ['eatmydata'], options: { wrapper: ['eatmydata'] } },
  { kept: alerts, what: 'with alertsSync: false', programs: [], options: { flags: ['--no-alerts-sync'] } },
  { kept: keepTasks(1000), what: 'under eatmydata', programs: ['eatmydata'], options: { wrapper: ['eatmydata'] } },
];

for (const kind of cases(['ext4', 'xfs'] as const)) {
  for (const { kept, what, programs, options } of cases(ways)) {
    const needs = requires({ programs: [...diskPrograms, ...programs], mounts: true, loops: true });
    test(`control: ${what} a power cut on ${kind} loses acknowledged ${kept.what}s`, needs, async (t) => {
      const title = `control ${what}, ${kept.what}s, ${kind}`;
      const { lost } = await cutPower(t, { what: title, kind, kept, rounds: rounds(1, 20), ...options });
      assert.ok(lost > 0);
    });
  }
}
