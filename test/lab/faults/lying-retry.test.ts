import assert from 'node:assert/strict';
import { mkdir, open, readFile, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { rounds } from '../../support/long.ts';
import { waitUntil } from '../../support/wait.ts';
import { startBusy } from './support/busy.ts';
import type { Clients } from './support/clients.ts';
import { createDisk, createMemoryDisk, type Disk, diskPrograms, type MemoryDisk, MiB } from './support/disk.ts';
import { alerts, type Kept } from './support/kept.ts';
import { tasks } from './support/kept-tasks.ts';
import { killServer } from './support/kill.ts';
import { requires } from './support/requirements.ts';
import { sendOne } from './support/send.ts';
import { startServer } from './support/server.ts';
import { createTally } from './support/tally.ts';

const needs = requires({ programs: diskPrograms, mounts: true, loops: true });
const memoryBytes = 24 * MiB;
/** Bytes of space that are enough for a startup to write its files. */
const leftBytes = 384 * 1024;
const block = Buffer.alloc(16 * 1024, 'x');

interface Case {
  what: string;
  /** Environment variables for mkfs. */
  variables: Record<string, string>;
  recovers: boolean;
}

const all = [alerts, tasks] as const;

/** Without the variable, mkfs leaves holes for the journal of the file system, so writes to the journal fail, too. */
const cases: Case[] = [
  { what: 'only data are refused', variables: { UNIX_IO_NOZEROOUT: '1' }, recovers: true },
  { what: 'the file system becomes read-only', variables: {}, recovers: false },
];

test('control: a second sync reports success for bytes that the first could not write', needs, async (t) => {
  const { disk, memory } = await createOvercommitted(t, { UNIX_IO_NOZEROOUT: '1' });
  const path = join(disk.path, 'file');
  const file = await open(path, 'a');
  let written = 0;
  try {
    await assert.rejects(async () => {
      for (; written < memoryBytes; written += block.length) {
        await file.appendFile(block);
        await file.datasync();
      }
    }, /EIO|ENOSPC/);
    await file.datasync();
  } finally {
    await file.close();
  }
  await memory.resize(4 * memoryBytes);
  await disk.remount();
  const expected = Buffer.alloc(written + block.length, block);
  assert.equal((await readFile(path)).equals(expected), false);
});

for (const [kept, { what, variables, recovers }] of all.flatMap((kept) => cases.map((each) => [kept, each] as const))) {
  test(`no ${kept.what} is acknowledged before it is on the disk if a sync fails and ${what}`, needs, async (t) => {
    const tally = createTally(`failing sync, ${kept.what}s, ${what}`);
    const count = rounds(1, 20);
    for (let round = 1; round <= count; round++)
      await t.test(`round ${round}`, async (t) => {
        const { disk, memory } = await createOvercommitted(t, variables);
        const busy = await startBusy(t, { kept, folder: disk.path });
        const { server, clients, dataDir } = busy;
        await waitUntil('requests are refused', () => (clients.statuses.get(503) ?? 0) > 50);
        await memory.resize(4 * memoryBytes);
        if (recovers) await waitUntilAccepted(clients);
        await killServer(server);
        await clients.stop();
        await disk.remount();
        tally.add(await kept.judge(dataDir, clients.sent));
        await assertAccepts(dataDir, kept);
      });
    tally.print(t);
    assert.deepEqual([tally.lost, tally.duplicated, tally.misplaced], [0, 0, 0]);
    assert.ok(tally.acknowledged > 0);
  });
}

const waitUntilAccepted = async ({ acknowledged }: Clients): Promise<void> => {
  const before = acknowledged.flat().length;
  await waitUntil('requests are accepted again', () => acknowledged.flat().length > before + 50);
};

const assertAccepts = async (dataDir: string, kept: Kept): Promise<void> => {
  const server = await startServer({ dataDir, kept });
  assert.ok(server);
  try {
    assert.ok((await sendOne(server.url, 'after', kept)).operation.isAcknowledged);
  } finally {
    await killServer(server);
  }
};

interface Overcommitted {
  disk: Disk;
  memory: MemoryDisk;
}

/** Creates a disk that claims more space than it has: an image on an in-memory file system that is nearly full. */
const createOvercommitted = async (t: TestContext, variables: Record<string, string>): Promise<Overcommitted> => {
  const memory = await createMemoryDisk(t, memoryBytes);
  const flags = ['-b', '4096', '-N', '256', '-E', 'lazy_itable_init=0,lazy_journal_init=0,nodiscard'];
  const disk = await createDisk(t, {
    kind: 'ext4',
    bytes: 64 * MiB,
    folder: memory.path,
    mkfs: { flags, variables },
  });
  // The block of the folder itself must be in the image before the file system is full.
  await mkdir(join(disk.path, 'data'));
  await disk.remount();
  await disk.splitRequests();
  const { bavail, bsize } = await statfs(memory.path);
  await writeFile(join(memory.path, 'rest'), Buffer.alloc(bavail * bsize - leftBytes));
  return { disk, memory };
};
