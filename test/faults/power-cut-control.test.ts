import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diskPrograms } from './support/disk.ts';
import { cutPower } from './support/power-cut.ts';
import { requires } from './support/requirements.ts';
import { rounds } from './support/rounds.ts';

/** Two ways to turn off syncing: a library that makes every sync a no-op, and our own setting. */
const ways = [
  { what: 'under eatmydata', programs: ['eatmydata'], options: { wrapper: ['eatmydata'] } },
  { what: 'with alertsSync: false', programs: [], options: { flags: ['--no-alerts-sync'] } },
];

for (const kind of ['ext4', 'xfs'] as const) {
  for (const { what, programs, options } of ways) {
    const needs = requires({ programs: [...diskPrograms, ...programs], mounts: true, loops: true });
    test(`control: ${what} a power cut on ${kind} loses acknowledged alerts`, needs, async (t) => {
      const title = `control ${what}, ${kind}`;
      const { lost } = await cutPower(t, { what: title, kind, rounds: rounds(1, 20, 3), ...options });
      assert.ok(lost > 0);
    });
  }
}
