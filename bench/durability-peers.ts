import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createDisk, type Disk, MiB } from '../test/faults/support/disk.ts';
import { atEnd } from '../test/faults/support/ending.ts';
import { createPowerSwitch } from '../test/faults/support/power-switch.ts';
import { alertmanager } from './peers/alertmanager.ts';
import { etcd } from './peers/etcd.ts';
import type { Peer, RunningPeer } from './peers/peer.ts';
import { createRedis } from './peers/redis.ts';
import { signalbox } from './peers/signalbox.ts';
import { startCrowd } from './support/crowd.ts';
import { toTable } from './support/figures.ts';

/**
 * Durability of acknowledged records after SIGKILL and after a power cut of the disk: signalbox compared with other
 * programs that store data. Run as root: `node dist/bench/durability-peers.js [ROUNDS]`.
 */
const peers = [signalbox, createRedis('always'), createRedis('everysec'), etcd, alertmanager];
const clients = 8;
const diskBytes = 512 * MiB;
/** Shortest and longest time under load before the fault, and the time after it during which responses are awaited. */
const shortestMs = 50;
const longestMs = 500;
const lateMs = 200;

const [, , rounds = '30'] = process.argv;

type Fault = 'kill -9' | 'power cut';

const measure = async (t: TestContext, peer: Peer, fault: Fault): Promise<string[]> => {
  const disk = await createDisk(t, { kind: 'ext4', bytes: diskBytes });
  const folder = join(disk.path, 'data');
  mkdirSync(folder);
  // The folder itself is not tested, so it is flushed to disk before the first round.
  await disk.remount();
  const acknowledged: string[] = [];
  let late = 0;
  let running = await peer.start(folder);
  atEnd(t, () => running.kill());
  for (let round = 0; round < Number(rounds); round += 1) {
    const seen = await runUntilFault(running, disk, fault, `${round}`);
    acknowledged.push(...seen.acknowledged);
    late += seen.late;
    running = await peer.start(folder);
  }
  const { lost, duplicated } = compare(acknowledged, await running.list());
  await running.kill();
  return [peer.name, fault, rounds, ...[acknowledged.length, lost, duplicated, late].map(String)];
};

/**
 * Runs load, then the fault, until the disk is back. Returns what was acknowledged before the cut and how much after
 * it.
 */
const runUntilFault = async (
  running: RunningPeer,
  disk: Disk,
  fault: Fault,
  tag: string,
): Promise<{ acknowledged: string[]; late: number }> => {
  const crowd = startCrowd(running, clients, tag);
  await setTimeout(shortestMs + Math.random() * (longestMs - shortestMs));
  if (fault === 'kill -9') {
    await running.kill();
    await crowd.stop();
    return { acknowledged: crowd.acknowledged, late: 0 };
  }
  const before = [...crowd.acknowledged];
  await createPowerSwitch(disk.path).cut();
  const afterwards = startCrowd(running, clients, `${tag}-late`);
  await setTimeout(lateMs);
  await running.kill();
  await Promise.all([crowd.stop(), afterwards.stop()]);
  await disk.remount();
  return { acknowledged: before, late: afterwards.acknowledged.length };
};

const compare = (acknowledged: string[], kept: string[]): { lost: number; duplicated: number } => {
  const times = new Map<string, number>();
  for (const record of kept) times.set(record, (times.get(record) ?? 0) + 1);
  return {
    lost: acknowledged.filter((record) => !times.has(record)).length,
    duplicated: [...times.values()].filter((count) => count > 1).length,
  };
};

const rows: string[][] = [];
for (const peer of peers) {
  for (const fault of ['kill -9', 'power cut'] as const) {
    await test(`${peer.name}, ${fault}`, async (t) => {
      rows.push(await measure(t, peer, fault));
    });
  }
}
const head = ['', 'fault', 'rounds', 'acknowledged', 'lost', 'duplicated', 'acknowledged after the cut'];
process.stdout.write(toTable(head, rows));
