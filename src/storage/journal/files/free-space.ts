import { statfs } from 'node:fs/promises';
import { JournalError } from '../errors.ts';

const checkedForMs = 1000;

/**
 * Called before `bytes` are written. Throws JournalError `low-space` while the file system has less than `minFreeBytes`
 * for ordinary users.
 */
export type AssertFreeSpace = (bytes: number) => Promise<void>;

/** Once there is enough space, it is not checked again for a second, unless this journal itself uses it up. */
export const createFreeSpaceCheck = (directory: string, minFreeBytes: number): AssertFreeSpace => {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let spare = 0;
  return async (bytes) => {
    spare -= bytes;
    if (spare >= 0 && performance.now() - checkedAt < checkedForMs) return;
    const { bavail, bsize } = await statfs(directory);
    if (bavail * bsize < minFreeBytes) {
      throw new JournalError('low-space', `less than ${minFreeBytes} bytes are free for ${directory}`);
    }
    spare = bavail * bsize - minFreeBytes - bytes;
    checkedAt = performance.now();
  };
};
