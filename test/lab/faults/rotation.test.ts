import assert from 'node:assert/strict';
import { existsSync, linkSync, renameSync, unlinkSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { rounds } from '../../support/long.ts';
import { waitUntil } from '../../support/wait.ts';
import { type Busy, finish, startBusy, waitForAlerts } from './support/busy.ts';
import { compare } from './support/compare.ts';
import { createLogrotate } from './support/logrotate.ts';
import { readEverything } from './support/moved-files.ts';
import { requires } from './support/requirements.ts';
import { createTally } from './support/tally.ts';

const needsLogrotate = requires({ programs: ['logrotate'] });

type Move = (busy: Busy, round: number) => void | Promise<void>;

/** Repeatedly moves the log away under load. Every acknowledged alert must be in one of the files. */
const rotate = async (t: TestContext, what: string, move: Move, flags: string[] = []): Promise<void> => {
  const busy = await startBusy(t, { flags });
  const tally = createTally(`rotation, ${what}`);
  const count = rounds(8, 300);
  for (let round = 1; round <= count; round++) {
    await waitForAlerts(busy.clients);
    // Requests from before the last move may have been answered after it.
    await waitUntil('the log has a new file', () => existsSync(busy.file));
    await move(busy, round);
  }
  await waitForAlerts(busy.clients);
  const { lost, duplicated, misplaced, acknowledged } = compare(await finish(busy), readEverything(busy.dataDir));
  tally.add({ acknowledged, lost, duplicated, misplaced });
  tally.rounds = count;
  tally.print(t);
  assert.deepEqual({ lost, duplicated, misplaced }, { lost: [], duplicated: [], misplaced: [] });
  assert.deepEqual([...busy.clients.statuses.keys()], [200], busy.server.stderr());
};

test('logrotate with create loses no acknowledged alert', needsLogrotate, async (t) => {
  await rotate(t, 'logrotate with create', ({ folder, file }) => createLogrotate(folder, file, 'create')());
});

test('logrotate with nocreate and SIGHUP loses no acknowledged alert', needsLogrotate, async (t) => {
  await rotate(t, 'logrotate with nocreate, SIGHUP', async ({ folder, file, server }) => {
    await createLogrotate(folder, file, 'nocreate')();
    server.child.kill('SIGHUP');
  });
});

const rename: Move = ({ file }, round) => renameSync(file, `${file}.${round}`);

test('renaming the log under load loses no acknowledged alert', async (t) => {
  await rotate(t, 'rename', rename);
});

test('renaming the log while the server closes segments loses no acknowledged alert', async (t) => {
  const renameIfThere: Move = (busy, round) => {
    try {
      rename(busy, round);
    } catch (error) {
      // Between two segments, the file is missing for a moment.
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOENT');
    }
  };
  await rotate(t, 'rename, segments of 4 KiB', renameIfThere, ['--alerts-segment-bytes', '4096']);
});

test('no acknowledged alert is written to a deleted log file', async (t) => {
  // A second link keeps the deleted file available for the comparison.
  const unlink: Move = ({ file }, round) => {
    linkSync(file, `${file}.${round}`);
    unlinkSync(file);
  };
  await rotate(t, 'unlink', unlink);
});
