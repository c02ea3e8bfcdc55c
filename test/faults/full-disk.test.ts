import assert from 'node:assert/strict';
import { statfsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { type Busy, finish, startBusy } from './support/busy.ts';
import { compare, readLog } from './support/compare.ts';
import { createDisk, createMemoryDisk, diskPrograms, MiB } from './support/disk.ts';
import { createFillers } from './support/fillers.ts';
import { requires } from './support/requirements.ts';
import { createTally } from './support/tally.ts';
import { waitUntil } from './support/wait.ts';

const KiB = 1024;
const needs = requires({ programs: diskPrograms, mounts: true, loops: true });
const noFloor = ['--alerts-min-free-bytes', '0'];

interface Case {
  what: string;
  create(t: TestContext): Promise<{ path: string }>;
  flags: string[];
  floor: number;
  reason: RegExp;
}

const cases: Case[] = [
  {
    what: 'tmpfs of 64 KiB',
    create: (t) => createMemoryDisk(t, 64 * KiB),
    flags: noFloor,
    floor: 0,
    reason: /\(the disk is full\)$/,
  },
  {
    what: 'ext4 of 2 MiB',
    create: (t) => createDisk(t, { kind: 'ext4', bytes: 2 * MiB }),
    flags: noFloor,
    floor: 0,
    reason: /\(the disk is full\)$/,
  },
  {
    what: 'tmpfs of 2 MiB with the floor of 1 MiB',
    create: (t) => createMemoryDisk(t, 2 * MiB),
    flags: [],
    floor: MiB,
    reason: /\(too little space is free on the disk\)$/,
  },
];

for (const { what, create, flags, floor, reason } of cases) {
  test(`alerts on a full ${what} are refused until there is space again`, needs, async (t) => {
    const { path } = await create(t);
    const fillers = createFillers(path, 16 * KiB, floor + 24 * KiB);
    const tally = createTally(`full disk, ${what}`);
    const busy = await startBusy(t, { flags, folder: path });
    await assertRefuses(busy, reason);
    assertFree(path, floor);
    await freeUnderLoad(busy, fillers.free);
    await busy.clients.stop();
    fillers.free();
    await waitUntil('/ready is 200', async () => (await fetch(`${busy.server.url}/ready`)).status === 200);
    assert.equal((await post(busy)).status, 200);
    tally.add(compare(await finish(busy), readLog(busy.dataDir)));
    tally.print(t);
    assert.deepEqual([tally.lost, tally.duplicated, tally.misplaced], [0, 0, 0]);
  });
}

/** Alerts are 503 with the reason, /ready is 503, and requests that need no space succeed. */
const assertRefuses = async (busy: Busy, reason: RegExp): Promise<void> => {
  const { url } = busy.server;
  let refusal = await post(busy);
  await waitUntil('an alert is refused', async () => {
    refusal = await post(busy);
    return refusal.status !== 200;
  });
  assert.equal(refusal.status, 503);
  assert.equal(refusal.headers.get('retry-after'), '1');
  assert.match(String(Reflect.get(Object(await refusal.json()), 'error')), reason);
  await waitUntil('/ready is 503', async () => (await fetch(`${url}/ready`)).status === 503);
  const list = await fetch(`${url}/api/alerts?count=5`);
  assert.equal(list.status, 200);
  assert.equal((await fetch(`${url}/no-such-route`)).status, 404);
};

/** Nothing is written below the floor, except for the batch that reaches it: here one alert per client. */
const assertFree = (path: string, floor: number): void => {
  const { bavail, bsize } = statfsSync(path);
  assert.ok(bavail * bsize >= floor - 8 * KiB);
};

/** Frees space under load, and waits until alerts are acknowledged again. */
const freeUnderLoad = async ({ clients }: Busy, free: () => void): Promise<void> => {
  const before = clients.acknowledged.flat().length;
  free();
  await waitUntil('alerts are taken again', () => clients.acknowledged.flat().length > before + 10);
};

const post = ({ server }: Busy): Promise<Response> =>
  fetch(`${server.url}/api/alert`, { method: 'POST', body: JSON.stringify({ message: 'one more' }) });
