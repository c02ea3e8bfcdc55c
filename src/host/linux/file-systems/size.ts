import type { StatsFs } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

const patienceMs = 1000;

export interface FileSystemSize {
  totalBytes: number;
  usedBytes: number;
  availableBytes: number;
}

export type ReadSize = (path: string) => Promise<FileSystemSize | null>;

type Statfs = (path: string) => Promise<Pick<StatsFs, 'blocks' | 'bfree' | 'bavail' | 'bsize'>>;

/** Reads sizes as `df` has them; null where the path cannot be asked. */
export const createSizeReader =
  (statfs: Statfs): ReadSize =>
  async (path) => {
    const found = await statfs(path).catch(() => null);
    return (
      found && {
        totalBytes: found.blocks * found.bsize,
        usedBytes: (found.blocks - found.bfree) * found.bsize,
        availableBytes: found.bavail * found.bsize,
      }
    );
  };

/**
 * For file systems whose server may be gone, where a question can hang for good and holds a thread of
 * Node's small pool: asks one at a time, gives up after a second, and answers null at once for as long as
 * a question is still hanging. So no more than one thread is ever lost.
 */
export const createPatientSizeReader = (read: ReadSize, limitMs = patienceMs): ReadSize => {
  let turn: Promise<unknown> = Promise.resolve();
  let hanging = false;
  const ask = async (path: string): Promise<FileSystemSize | null> => {
    const given = new AbortController();
    hanging = true;
    const answer = read(path).finally(() => {
      hanging = false;
      given.abort();
    });
    const limit = setTimeout(limitMs, null, { signal: given.signal }).catch(() => null);
    return Promise.race([answer, limit]);
  };
  return (path) => {
    const mine = turn.then(() => (hanging ? null : ask(path)));
    turn = mine;
    return mine;
  };
};
