import assert from 'node:assert/strict';
import { linkSync, renameSync, unlinkSync } from 'node:fs';
import { test } from 'node:test';
import { rounds } from '../../support/long.ts';
import { type Busy, finish, startBusy, waitForAlerts } from './support/busy.ts';
import { keepTasks, tasks } from './support/kept-tasks.ts';
import { createTally } from './support/tally.ts';

type Move = (busy: Busy, round: number) => void;

const rename: Move = ({ file }, round) => renameSync(file, `${file}.${round}`);

const unlink: Move = ({ file }, round) => {
  linkSync(file, `${file}.${round}`);
  unlinkSync(file);
};

/** Handles a missing file, because there is none for a moment between two segments. */
const ifThere =
  (move: Move): Move =>
  (busy, round) => {
    try {
      move(busy, round);
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOENT');
    }
  };

const cases = [
  ['rename', tasks, rename],
  ['unlink', tasks, unlink],
  ['rename, while the state is written', keepTasks(30_000), rename],
] as const;

for (const [what, kept, move] of cases) {
  test(`no acknowledged task is lost when the log is moved away: ${what}`, async (t) => {
    const busy = await startBusy(t, { kept });
    const tally = createTally(`moved log of tasks, ${what}`);
    const count = rounds(8, 300);
    for (let round = 1; round <= count; round += 1) {
      await waitForAlerts(busy.clients);
      ifThere(move)(busy, round);
    }
    await waitForAlerts(busy.clients);
    await finish(busy);
    const verdict = await kept.judge(busy.dataDir, busy.clients.sent);
    tally.add(verdict);
    tally.rounds = count;
    tally.print(t);
    assert.deepEqual(verdict, { ...verdict, lost: [], duplicated: [], misplaced: [] });
    assert.deepEqual([...busy.clients.statuses.keys()], [200], busy.server.stderr());
  });
}
