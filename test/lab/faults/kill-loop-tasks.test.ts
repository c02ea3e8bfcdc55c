import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { rounds } from '../../support/long.ts';
import { createRandom } from '../../support/random.ts';
import { createTemporaryFolder } from './support/ending.ts';
import type { Operation } from './support/kept.ts';
import { keepTasks } from './support/kept-tasks.ts';
import { type End, killStart, runUntilKilled } from './support/lives.ts';
import { createTally } from './support/tally.ts';

/** Tasks with descriptions long enough that a server writes the state file about once a second. */
const kept = keepTasks(30_000);
/** Number of servers after which the tasks are compared and a new folder begins. */
const livesPerFolder = 10;
const longestLifeMs = 300;
const mostAcknowledged = 400;
/** Duration of a startup that reads the tasks. The startup of an empty server is faster. */
const longestStartMs = 900;
/** Approximate duration of writing the state file. */
const longestSaveMs = 60;

test('after kill -9 at any moment every acknowledged change to a task is stored, and ids have no gaps', async (t) => {
  const { next: random } = createRandom();
  const tally = createTally('kill -9, tasks');
  const total = rounds(4, 1000);
  for (let round = 0; round < total; round += livesPerFolder) {
    const dataDir = join(createTemporaryFolder(t), 'data');
    const history: Operation[][] = [];
    const lives = Math.min(livesPerFolder, total - round);
    for (let life = 0; life < lives; life += 1) {
      if (life % 4 === 3) await killStart({ dataDir, kept, killAfter: Math.ceil(random() * longestStartMs) });
      const sent = await runUntilKilled({ dataDir, kept }, `${round}-${life}`, chooseEnd(life, random));
      for (const [client, list] of sent.entries()) history[client] = [...(history[client] ?? []), ...list];
    }
    leaveUnfinished(join(dataDir, 'tasks.state'));
    const verdict = await kept.judge(dataDir, history);
    tally.add(verdict);
    const { lost, duplicated, misplaced } = verdict;
    assert.deepEqual({ lost, duplicated, misplaced }, { lost: [], duplicated: [], misplaced: [] }, `round ${round}`);
  }
  tally.rounds = total;
  tally.print(t);
  assert.ok(tally.acknowledged > total);
});

const chooseEnd = (life: number, random: () => number): End => {
  const ends = [
    // The first life is killed immediately, before a fast disk has written everything.
    { whileSavingMs: life === 0 ? 0 : random() * longestSaveMs },
    { afterMs: 20 + random() * longestLifeMs },
    { afterRequests: Math.ceil(random() * mostAcknowledged) },
  ];
  return ends[life % ends.length] ?? {};
};

/**
 * Leaves an incomplete state file, as a server does that is killed while writing it. Fast disks rarely leave such a
 * file.
 */
const leaveUnfinished = (path: string): void => {
  const unfinished = `${path}.new`;
  if (existsSync(unfinished) || !existsSync(path)) return;
  const bytes = readFileSync(path);
  writeFileSync(unfinished, bytes.subarray(0, bytes.length / 2));
};
