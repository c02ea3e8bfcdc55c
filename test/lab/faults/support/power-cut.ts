import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { waitRandomly, waitUntil } from '../../../support/wait.ts';
import { startClients } from './clients.ts';
import { createDisk, type Disk, type DiskKind, MiB } from './disk.ts';
import { alerts, type Kept, type Operation } from './kept.ts';
import { killServer } from './kill.ts';
import { createPowerSwitch } from './power-switch.ts';
import { type FaultServer, startServer } from './server.ts';
import { createTally, type Tally } from './tally.ts';

/** Number of servers after which a new log begins, to keep the disk and the log small. */
const livesPerLog = 10;
const maxAcknowledgedBeforeCut = 150;
const lateClients = 4;
const diskBytes = 300 * MiB;

interface Options {
  what: string;
  kind: DiskKind;
  kept?: Kept;
  rounds: number;
  flags?: string[];
  wrapper?: string[];
}

/** Cuts the power of one busy server after another on a single disk, and counts the outcomes. */
export const cutPower = async (t: TestContext, options: Options): Promise<Tally> => {
  const { what, kind, kept = alerts, rounds, flags = [], wrapper = [] } = options;
  const disk = await createDisk(t, { kind, bytes: diskBytes });
  const dataDir = join(disk.path, 'data');
  const tally = createTally(what);
  const history: Operation[][] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % livesPerLog === 0) {
      history.length = 0;
      rmSync(dataDir, { recursive: true, force: true });
    }
    // Every second log is split into many files.
    const roundFlags = [...flags, ...(Math.floor(round / livesPerLog) % 2 === 0 ? [] : kept.smallSegments)];
    const life = await runUntilCut(disk, `${kind}-${round}`, { dataDir, kept, flags: roundFlags, wrapper });
    history.push(...life.sent);
    tally.add({ ...(await kept.judge(dataDir, history)), acknowledged: life.acknowledged }, life.wrong);
  }
  await assertRecovers(dataDir, kept, flags);
  tally.print(t);
  return tally;
};

interface Life {
  /**
   * Requests that were sent. Only requests acknowledged before the cut began count as acknowledged. A sync in progress
   * may report success for lost data, on both ext4 and xfs. In a real power cut, its response would not have left the
   * machine.
   */
  sent: Operation[][];
  acknowledged: number;
  /** Number of requests that were acknowledged although they were sent after the disk was gone. */
  wrong: number;
}

/** Runs one server until the power cut, then restores the disk. */
const runUntilCut = async (
  disk: Disk,
  tag: string,
  options: Parameters<typeof startServer>[0] & { kept: Kept },
): Promise<Life> => {
  const { kept } = options;
  const server = await start(options);
  const clients = startClients(server.url, { kept, tag });
  const power = createPowerSwitch(disk.path);
  const life: Life = { sent: [], acknowledged: 0, wrong: 0 };
  let known = new Set<Operation>();
  try {
    const enough = Math.random() * maxAcknowledgedBeforeCut;
    await waitUntil('requests are acknowledged', () => clients.acknowledged.flat().length >= enough);
    await waitRandomly(10);
    known = new Set(clients.sent.flat().filter(({ isAcknowledged }) => isAcknowledged));
    await power.cut();
    const late = startClients(server.url, { kept, tag: `${tag}-late`, count: lateClients });
    await late.stop();
    life.wrong = late.acknowledged.flat().length;
  } finally {
    await power.release();
    await killServer(server);
    await clients.stop();
  }
  await disk.remount();
  life.acknowledged = known.size;
  life.sent = clients.sent.map((list) => list.map((each) => ({ ...each, isAcknowledged: known.has(each) })));
  return life;
};

const start = async (options: Parameters<typeof startServer>[0]): Promise<FaultServer> => {
  let said = '';
  const server = await startServer({ ...options, onRefusal: (stderr) => (said = stderr) });
  assert.ok(server, `the server does not start: ${said}`);
  return server;
};

/** Asserts that, after the last cut, a server starts, stores a record and shuts down. */
const assertRecovers = async (dataDir: string, kept: Kept, flags: string[]): Promise<void> => {
  const server = await start({ dataDir, kept, flags });
  const clients = startClients(server.url, { kept, tag: 'last', count: 1, limit: 1 });
  await clients.stop();
  server.child.kill('SIGTERM');
  assert.equal(await server.ended, 0);
  assert.ok(clients.statuses.has(200));
  assert.deepEqual(
    (await kept.judge(dataDir, clients.sent)).lost.filter((lost) => lost.startsWith('last')),
    [],
  );
};
