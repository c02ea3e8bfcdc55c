import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Acknowledged, startClients } from './clients.ts';
import { compare, type Line, readLog } from './compare.ts';
import { createDisk, type Disk, type DiskKind, MiB } from './disk.ts';
import { killServer } from './kill.ts';
import { createPowerSwitch } from './power-switch.ts';
import { type FaultServer, startServer } from './server.ts';
import { createTally, type Tally } from './tally.ts';
import { waitRandomly, waitUntil } from './wait.ts';

/** A new log is started after this many servers, which keeps the disk and the log small. */
const livesPerLog = 10;
const maxAcknowledgedBeforeCut = 150;
const lateClients = 4;
const diskBytes: Record<DiskKind, number> = { ext4: 64 * MiB, xfs: 300 * MiB };

interface Options {
  what: string;
  kind: DiskKind;
  rounds: number;
  flags?: string[];
  wrapper?: string[];
}

/** Cuts the power of one busy server after another on the same disk, and counts the outcomes. */
export const cutPower = async (t: TestContext, options: Options): Promise<Tally> => {
  const { what, kind, rounds, flags = [], wrapper = [] } = options;
  const disk = await createDisk(t, { kind, bytes: diskBytes[kind] });
  const dataDir = join(disk.path, 'data');
  const tally = createTally(what);
  const history: Acknowledged[][] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % livesPerLog === 0) {
      history.length = 0;
      rmSync(dataDir, { recursive: true, force: true });
    }
    const roundFlags = [...flags, ...toSegmentFlags(round)];
    const life = await runUntilCut(disk, `${kind}-${round}`, { dataDir, flags: roundFlags, wrapper });
    history.push(...life.acknowledged);
    const lines = existsSync(dataDir) ? readLog(dataDir) : [];
    tally.add({ ...compare(history, lines), acknowledged: life.acknowledged.flat().length }, life.wrong);
    assertAscending(lines);
  }
  await assertRecovers(dataDir, flags);
  tally.print(t);
  return tally;
};

/** Every second log closes a segment every few batches. */
const toSegmentFlags = (round: number): string[] =>
  Math.floor(round / livesPerLog) % 2 === 0 ? [] : ['--alerts-segment-bytes', '16384'];

interface Life {
  /**
   * The alerts acknowledged before the cut began. A sync in progress may report success for data that is lost, on both
   * ext4 and xfs; in a real power cut its response would not have left the machine.
   */
  acknowledged: Acknowledged[][];
  /** Alerts that were sent after the disk was gone and still acknowledged. */
  wrong: number;
}

/** Runs one server until the power cut, and restores the disk. */
const runUntilCut = async (disk: Disk, tag: string, options: Parameters<typeof startServer>[0]): Promise<Life> => {
  const server = await start(options);
  const clients = startClients(server.url, { tag });
  const power = createPowerSwitch(disk.path);
  const life: Life = { acknowledged: [], wrong: 0 };
  try {
    const enough = Math.random() * maxAcknowledgedBeforeCut;
    await waitUntil('alerts are acknowledged', () => clients.acknowledged.flat().length >= enough);
    await waitRandomly(10);
    life.acknowledged = clients.acknowledged.map((list) => [...list]);
    await power.cut();
    const late = startClients(server.url, { tag: `${tag}-late`, count: lateClients });
    await late.stop();
    life.wrong = late.acknowledged.flat().length;
  } finally {
    await power.release();
    await killServer(server);
    await clients.stop();
  }
  await disk.remount();
  return life;
};

const start = async (options: Parameters<typeof startServer>[0]): Promise<FaultServer> => {
  let said = '';
  const server = await startServer({ ...options, onRefusal: (stderr) => (said = stderr) });
  assert.ok(server, `the server does not start: ${said}`);
  return server;
};

const assertAscending = (lines: Line[]): void => {
  const numbers = lines.map(({ seq }) => seq);
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
  );
};

/** After the last cut, the server starts again, stores an alert and shuts down. */
const assertRecovers = async (dataDir: string, flags: string[]): Promise<void> => {
  const server = await start({ dataDir, flags });
  const clients = startClients(server.url, { tag: 'last', count: 1 });
  await clients.stop();
  server.child.kill('SIGTERM');
  assert.equal(await server.ended, 0);
  assert.equal(clients.statuses.get(200), 1);
  assert.deepEqual(compare(clients.acknowledged, readLog(dataDir)).lost, []);
};
