import { statfs } from 'node:fs/promises';
import { JournalError } from './journal-error.ts';

const checkedForMs = 1000;

/** Throws JournalError `low-space` while the file system has less than `minFreeBytes` for ordinary users. */
export type AssertFreeSpace = () => Promise<void>;

/** What was found to be enough is not asked again for a second. */
export const createFreeSpaceCheck = (directory: string, minFreeBytes: number): AssertFreeSpace => {
  let checkedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - checkedAt < checkedForMs) {
      return;
    }
    const { bavail, bsize } = await statfs(directory);
    if (bavail * bsize < minFreeBytes) {
      throw new JournalError('low-space', `less than ${minFreeBytes} bytes are free for ${directory}`);
    }
    checkedAt = performance.now();
  };
};
