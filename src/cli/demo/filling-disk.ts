import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { open, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Scene } from './stage.ts';

const MiB = 1024 * 1024;

/** What is written, in how many pieces; the limit is half of it. Less free space is left alone. */
const [writtenBytes, pieces] = [64 * MiB, 8];
const leastFree = 1024 * MiB;

/** Seconds after which a disk that others fill, or empty, is not waited for any longer. */
const mostSeconds = 8;

/**
 * Fills up a disk as far as that harms nobody: a watch on the file system of the folder has its limit a little below the space
 * that is free now, and a file takes more than that for a few seconds.
 */
export const fillDisk = async (scene: Scene): Promise<void> => {
  const { call, pause, narrator, folder } = scene;
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free < leastFree) {
    narrator.tell('machine', 'disk', 'has too little space for this part of the demo');
    return;
  }
  const limit = free - writtenBytes / 2;
  const watch = { name: 'demo-disk', type: 'disk', metric: 'free', mounts: [findMount(folder)], every: 1 };
  const message = 'Real, but harmless: the demo has written 64 MiB into its folder.';
  await call('admin', 'POST', '/api/watches', { ...watch, limit, clear: limit, level: 'WARNING', message });
  narrator.tell('machine', 'disk', 'fills up: the demo writes 64 MiB, and a watch warns of half as much');
  const path = join(folder, 'filling');
  const file = await open(path, 'w', 0o600);
  try {
    for (let piece = 0; piece < pieces; piece += 1) {
      await file.write(randomBytes(writtenBytes / pieces));
      // Free space counts what has reached the disk.
      await file.sync();
      await pause(0.7);
    }
    await waitWhile(async () => !(await isFiring(scene)));
    await pause(3);
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
  narrator.tell('machine', 'disk', 'the demo deletes its 64 MiB');
  await waitWhile(() => isFiring(scene));
  await call('admin', 'DELETE', '/api/watches/demo-disk');
};

const waitWhile = async (condition: () => Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + mostSeconds * 1000;
  while (performance.now() < deadline && (await condition())) await setTimeout(200);
};

const isFiring = async ({ call }: Scene): Promise<boolean> => {
  const { data } = await call('admin', 'GET', '/api/watches');
  return (data as { name: string; state: string }[]).some(
    ({ name, state }) => name === 'demo-disk' && state === 'firing',
  );
};

/** Where the file system of a path is mounted: its topmost folder on the same device. */
const findMount = (path: string): string => {
  const { dev } = statSync(path);
  let top = path;
  while (dirname(top) !== top && statSync(dirname(top)).dev === dev) top = dirname(top);
  return top;
};
