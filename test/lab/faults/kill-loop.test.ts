import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { rounds } from '../../support/long.ts';
import { createRandom } from '../../support/random.ts';
import { type Line, readLog } from './support/compare.ts';
import { createTemporaryFolder } from './support/ending.ts';
import { alerts, type Operation } from './support/kept.ts';
import { killServer } from './support/kill.ts';
import { killStart, runUntilKilled, start } from './support/lives.ts';
import { createTally } from './support/tally.ts';

const longestLifeMs = 300;
const mostAcknowledged = 200;
/** Approximate duration of a startup. About half of these kills come before the end of the startup. */
const longestStartMs = 600;
/** Flags for every third life, so that a segment is closed every few batches. */
const smallSegments = ['--alerts-segment-bytes', '16384'];

test('the log contains every acknowledged alert once and in order after kill -9 at any moment', async (t) => {
  const dataDir = join(createTemporaryFolder(t), 'data');
  const { next: random } = createRandom();
  const tally = createTally('kill -9');
  const total = rounds(5, 1000);
  const history: Operation[][] = [];
  for (let round = 0; round < total; round++) {
    const flags = round % 3 === 1 ? smallSegments : [];
    if (round % 4 === 3) await killStart({ dataDir, flags, killAfter: Math.ceil(random() * longestStartMs) });
    // Kills alternate between a random moment and the arrival of an acknowledgement.
    const end =
      round % 2 === 0
        ? { afterMs: 20 + random() * longestLifeMs }
        : { afterRequests: Math.ceil(random() * mostAcknowledged) };
    const sent = await runUntilKilled({ dataDir, flags }, `${round}`, end);
    for (const [client, list] of sent.entries()) history[client] = [...(history[client] ?? []), ...list];
  }
  const lines = readLog(dataDir);
  const verdict = await alerts.judge(dataDir, history);
  tally.add(verdict);
  tally.rounds = total;
  tally.print(t);
  assert.ok(verdict.acknowledged > total, `${verdict.acknowledged} acknowledged`);
  assert.deepEqual(verdict, { ...verdict, lost: [], duplicated: [], misplaced: [] });
  assertUnbroken(lines);
  await assertListed(dataDir, lines);
});

/** Asserts that a kill loses nothing that was written: seq has no gaps, and no message appears twice. */
const assertUnbroken = (lines: Line[]): void => {
  assert.equal(
    lines.findIndex(({ seq }, index) => seq !== index + 1),
    -1,
  );
  assert.equal(new Set(lines.map(({ message }) => message)).size, lines.length);
};

/** Asserts that the service lists the contents of its files. */
const assertListed = async (dataDir: string, lines: Line[]): Promise<void> => {
  const server = await start({ dataDir });
  try {
    const answer = await fetch(`${server.url}/api/alerts?count=10000`);
    const { data } = (await answer.json()) as { data: Line[] };
    const expected = lines.slice(-10_000).map(({ message }) => message);
    assert.deepEqual(
      data.map(({ message }) => message),
      expected,
    );
  } finally {
    await killServer(server);
  }
};
