import assert from 'node:assert/strict';
import { statfsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { waitUntil } from '../../support/wait.ts';
import { type Busy, finish, startBusy } from './support/busy.ts';
import { createDisk, createMemoryDisk, diskPrograms, MiB } from './support/disk.ts';
import { createFillers } from './support/fillers.ts';
import { alerts, type Kept } from './support/kept.ts';
import { keepTasks, tasks } from './support/kept-tasks.ts';
import { requires } from './support/requirements.ts';
import { createTally } from './support/tally.ts';

const KiB = 1024;
const needs = requires({ programs: diskPrograms, mounts: true, loops: true });
const noFloor = ['--alerts-min-free-bytes', '0'];

interface Case {
  kept: Kept;
  what: string;
  create(t: TestContext): Promise<{ path: string }>;
  flags: string[];
  floor: number;
  /**
   * Bytes that are initially free above the floor, and bytes in each of the two files that are deleted one after the
   * other.
   */
  free: number;
  filler: number;
  reason: RegExp;
}

const few = { free: 24 * KiB, filler: 16 * KiB };
const tasksRefused = /^Changes cannot be stored at the moment \(not enough space is free on the disk\);/;

const cases: Case[] = [
  {
    kept: alerts,
    ...few,
    what: 'tmpfs of 64 KiB',
    create: (t) => createMemoryDisk(t, 64 * KiB),
    flags: noFloor,
    floor: 0,
    reason: /\(the disk is full\)$/,
  },
  {
    kept: alerts,
    ...few,
    what: 'ext4 of 2 MiB',
    create: (t) => createDisk(t, { kind: 'ext4', bytes: 2 * MiB }),
    flags: noFloor,
    floor: 0,
    reason: /\(the disk is full\)$/,
  },
  {
    kept: alerts,
    ...few,
    what: 'tmpfs of 2 MiB with the floor of 1 MiB',
    create: (t) => createMemoryDisk(t, 2 * MiB),
    flags: [],
    floor: MiB,
    reason: /\(not enough space is free on the disk\)$/,
  },
  {
    kept: tasks,
    ...few,
    what: 'tmpfs of 2 MiB with the floor of 1 MiB',
    create: (t) => createMemoryDisk(t, 2 * MiB),
    flags: [],
    floor: MiB,
    reason: tasksRefused,
  },
  {
    kept: keepTasks(30_000),
    what: 'tmpfs of 64 MiB, without space for the state',
    create: (t) => createMemoryDisk(t, 64 * MiB),
    flags: [],
    floor: MiB,
    free: 20 * MiB,
    filler: 16 * MiB,
    reason: tasksRefused,
  },
];

for (const { kept, what, create, flags, floor, free, filler, reason } of cases) {
  test(`${kept.what}s on a full ${what} are refused until there is space again`, needs, async (t) => {
    const { path } = await create(t);
    const fillers = createFillers(path, filler, floor + free);
    const tally = createTally(`full disk, ${kept.what}s, ${what}`);
    const busy = await startBusy(t, { kept, flags, folder: path });
    await assertRefuses(busy, kept, reason);
    assertFree(path, kept === alerts ? floor : floor - 512 * KiB);
    await freeUnderLoad(busy, fillers.free);
    await busy.clients.stop();
    fillers.free();
    if (kept === alerts) await waitUntilReadiness(busy, 200);
    assert.ok((await post(busy, kept)).ok);
    await finish(busy);
    tally.add(await kept.judge(busy.dataDir, busy.clients.sent));
    tally.print(t);
    assert.deepEqual([tally.lost, tally.duplicated, tally.misplaced], [0, 0, 0]);
  });
}

/**
 * Asserts that changes get 503 with the reason, that /ready gets 503 if alerts cannot be stored, and that all other
 * requests succeed.
 */
const assertRefuses = async (busy: Busy, kept: Kept, reason: RegExp): Promise<void> => {
  const { url } = busy.server;
  let refusal = await post(busy, kept);
  await waitUntil('a change is refused', async () => {
    refusal = await post(busy, kept);
    return !refusal.ok;
  });
  assert.equal(refusal.status, 503);
  assert.equal(refusal.headers.get('retry-after'), '1');
  assert.match(String(Reflect.get(Object(await refusal.json()), 'error')), reason);
  if (kept === alerts) await waitUntilReadiness(busy, 503);
  const list = await fetch(`${url}${kept.list}`);
  assert.equal(list.status, 200);
  await list.arrayBuffer();
  assert.equal((await fetch(`${url}/no-such-route`)).status, 404);
};

/**
 * Asserts that nothing is written below the floor, except the batch that reaches the floor. That batch has one record
 * per client.
 */
const assertFree = (path: string, floor: number): void => {
  const { bavail, bsize } = statfsSync(path);
  assert.ok(bavail * bsize >= floor - 8 * KiB);
};

/** Frees space under load, and waits until alerts are acknowledged again. */
const freeUnderLoad = async ({ clients }: Busy, free: () => void): Promise<void> => {
  const before = clients.acknowledged.flat().length;
  free();
  await waitUntil('alerts are accepted again', () => clients.acknowledged.flat().length > before + 10);
};

const waitUntilReadiness = ({ server }: Busy, status: number): Promise<void> =>
  waitUntil(`/ready is ${status}`, async () => (await fetch(`${server.url}/ready`)).status === status);

const post = ({ server }: Busy, kept: Kept): Promise<Response> => {
  const { path, body } = kept.create('one-more');
  return fetch(`${server.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
};
