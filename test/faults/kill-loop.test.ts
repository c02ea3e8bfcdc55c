import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type Acknowledged, startClients } from './support/clients.ts';
import { compare, type Line, readLog } from './support/compare.ts';
import { createTemporaryFolder } from './support/ending.ts';
import { killServer } from './support/kill.ts';
import { createRandom } from './support/random.ts';
import { rounds } from './support/rounds.ts';
import { type FaultServer, startServer } from './support/server.ts';
import { createTally } from './support/tally.ts';

const clientCount = 8;
const longestLifeMs = 300;
const mostAcknowledged = 200;
/** About the duration of a startup, so that about half of these kills come before it is complete. */
const longestStartMs = 600;
/** Every third life closes a segment every few batches. */
const smallSegments = ['--alerts-segment-bytes', '16384'];

test('the log has every acknowledged alert once and in order after kill -9 at any moment', async (t) => {
  const dataDir = join(createTemporaryFolder(t), 'data');
  const random = createRandom(t);
  const tally = createTally('kill -9');
  const total = rounds(5, 1000);
  const history: Acknowledged[][] = Array.from({ length: clientCount }, () => []);
  for (let round = 0; round < total; round++) {
    const flags = round % 3 === 1 ? smallSegments : [];
    if (round % 4 === 3) await killStart(dataDir, flags, Math.ceil(random() * longestStartMs));
    // Alternates between a random moment and the arrival of an acknowledgement.
    const end =
      round % 2 === 0
        ? { afterMs: 20 + random() * longestLifeMs }
        : { afterAlerts: Math.ceil(random() * mostAcknowledged) };
    const acknowledged = await runUntilKilled({ dataDir, flags }, `${round}`, end);
    for (const [client, list] of history.entries()) list.push(...(acknowledged[client] ?? []));
  }
  const lines = readLog(dataDir);
  const verdict = compare(history, lines);
  tally.add(verdict);
  tally.rounds = total;
  tally.print(t);
  assert.ok(verdict.acknowledged > total, `${verdict.acknowledged} acknowledged`);
  assert.deepEqual(verdict, { ...verdict, lost: [], duplicated: [], misplaced: [] });
  assertUnbroken(lines);
  await assertListed(dataDir, lines);
});

/** Kills a server that may still be repairing the log. */
const killStart = async (dataDir: string, flags: string[], killAfter: number): Promise<void> => {
  const server = await startServer({ dataDir, flags, killAfter });
  await server?.ended;
};

interface End {
  afterMs?: number;
  afterAlerts?: number;
}

/** Runs one server under clients until it is killed; resolves to what it acknowledged, by client. */
const runUntilKilled = async (
  options: Parameters<typeof startServer>[0],
  tag: string,
  { afterMs, afterAlerts = Number.POSITIVE_INFINITY }: End,
): Promise<Acknowledged[][]> => {
  const server = await start(options);
  let count = 0;
  const onAcknowledged = () => ++count === afterAlerts && server.child.kill('SIGKILL');
  const clients = startClients(server.url, { tag, count: clientCount, onAcknowledged });
  try {
    if (afterMs !== undefined) await setTimeout(afterMs);
    else await clients.done;
    assert.equal(server.child.exitCode, null, 'the server has ended by itself');
  } finally {
    await killServer(server);
    await clients.stop();
  }
  assert.deepEqual(
    [...clients.statuses.keys()].filter((status) => status !== 200),
    [],
  );
  return clients.acknowledged;
};

const start = async (options: Parameters<typeof startServer>[0]): Promise<FaultServer> => {
  const server = await startServer(options);
  assert.ok(server, 'the server does not start');
  return server;
};

/** A kill loses nothing that was written: seq has no gaps, and no message appears twice. */
const assertUnbroken = (lines: Line[]): void => {
  assert.equal(
    lines.findIndex(({ seq }, index) => seq !== index + 1),
    -1,
  );
  assert.equal(new Set(lines.map(({ message }) => message)).size, lines.length);
};

/** The service lists the contents of its files. */
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
