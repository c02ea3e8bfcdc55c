import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { NotMeasurable } from './programs.ts';

/** Type numbers of in-memory file systems, from statfs(2). */
const inMemory = [0x01021994, 0x858458f6];

/** Throws a NotMeasurable if a folder is in memory, where a sync costs nothing. */
export const requireSyncedFolder = async (folder: string): Promise<void> => {
  const { type } = await statfs(folder);
  if (inMemory.includes(type)) throw new NotMeasurable(`${folder} is in memory: name a folder with --folder`);
};

/** Throws a NotMeasurable if a folder's file system has less free space. */
export const requireSpace = async (folder: string, bytes: number): Promise<void> => {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= bytes) return;
  throw new NotMeasurable(`${folder} has less than ${bytes / 1e9} GB: name a folder with --folder`);
};

/** How often in a second 4 KiB can be appended to a file and synced. */
export const measureSyncs = (folder: string, seconds = 2): number => {
  const file = openSync(join(folder, 'syncs'), 'w');
  const block = Buffer.alloc(4096);
  const began = performance.now();
  let count = 0;
  for (; performance.now() - began < seconds * 1000; count += 1) {
    writeSync(file, block);
    fdatasyncSync(file);
  }
  closeSync(file);
  return count / ((performance.now() - began) / 1000);
};
