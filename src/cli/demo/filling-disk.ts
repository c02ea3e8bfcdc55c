import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { open, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { MiB } from '../../lib/units.ts';
import type { Scene } from './stage.ts';

/**
 * Number of bytes to write, and number of pieces to write them in. The watch fires when half of the bytes are written.
 * The demo skips disks that have less free space.
 */
const [writtenBytes, pieces] = [16 * MiB, 8];
const minFree = 1024 * MiB;

/** Maximum seconds to wait for a disk that other programs fill or empty. */
const maxSeconds = 5;

const maxAttempts = 3;

/**
 * Fills a disk harmlessly. The watch on the folder's file system gets a limit slightly below the current free space.
 * For a few seconds, a file then takes up more than the difference. Retries if other programs free the same amount of
 * space in the meantime.
 */
export const fillDisk = async (scene: Scene): Promise<void> => {
  const { call, narrator, folder } = scene;
  const tell = (what: string): void => narrator.tell('machine', 'disk', what);
  for (let attempt = 1; ; attempt += 1) {
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    if (free < minFree) return tell('has too little free space: the demo skips this part');
    const limit = free - writtenBytes / 2;
    const watch = { name: 'demo-disk', type: 'disk', metric: 'free', mounts: [findMount(folder)], every: 1 };
    const message = 'Real, but harmless: the demo has written 16 MiB into its folder.';
    const settings = { ...watch, limit, clear: limit, level: 'WARNING', message };
    if (attempt === 1) await call('admin', 'POST', '/api/watches', settings);
    else await call('admin', 'PUT', `/api/watches/${watch.name}`, settings);
    tell('fills up: the demo writes 16 MiB, and a watch fires at 8 MiB');
    const isNoticed = await writeForSeconds(scene);
    tell('the demo deletes its 16 MiB');
    if (isNoticed) break;
    if (attempt === maxAttempts) {
      tell('is too busy: other programs free space at the same time, so the demo skips this part');
      break;
    }
  }
  await waitWhile(() => isFiring(scene));
  await call('admin', 'DELETE', '/api/watches/demo-disk');
};

/** Writes the file and deletes it once the watch has fired. Resolves to true if the watch fired. */
const writeForSeconds = async (scene: Scene): Promise<boolean> => {
  const { pause, folder } = scene;
  const path = join(folder, 'filling');
  const file = await open(path, 'w', 0o600);
  try {
    for (let piece = 0; piece < pieces; piece += 1) {
      await file.write(randomBytes(writtenBytes / pieces));
      // Free space shrinks only when bytes reach the disk.
      await file.sync();
      await pause(0.7);
    }
    await waitWhile(async () => !(await isFiring(scene)));
    const isNoticed = await isFiring(scene);
    await pause(3);
    return isNoticed;
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
};

const waitWhile = async (condition: () => Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + maxSeconds * 1000;
  while (performance.now() < deadline && (await condition())) await setTimeout(200);
};

const isFiring = async ({ call }: Scene): Promise<boolean> => {
  const { data } = await call('admin', 'GET', '/api/watches');
  return (data as { name: string; state: string }[]).some(
    ({ name, state }) => name === 'demo-disk' && state === 'firing',
  );
};

/** Finds the mount point of a path: the topmost ancestor on the same device. */
const findMount = (path: string): string => {
  const { dev } = statSync(path);
  let top = path;
  while (dirname(top) !== top && statSync(dirname(top)).dev === dev) top = dirname(top);
  return top;
};
