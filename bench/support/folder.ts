import { statfs } from 'node:fs/promises';
import { NotMeasurable } from './not-measurable.ts';

/** File systems in memory, by their numbers in statfs(2). */
const inMemory = [0x01021994, 0x858458f6];

/** Throws a NotMeasurable where a folder is in memory: a sync costs nothing there. */
export const requireSyncedFolder = async (folder: string): Promise<void> => {
  const { type } = await statfs(folder);
  if (inMemory.includes(type)) throw new NotMeasurable(`${folder} is in memory: name a folder with --folder`);
};

/** Throws a NotMeasurable where a folder's file system has less free. */
export const requireSpace = async (folder: string, bytes: number): Promise<void> => {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= bytes) return;
  throw new NotMeasurable(`${folder} has less than ${bytes / 1e9} GB: name a folder with --folder`);
};
