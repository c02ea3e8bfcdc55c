import { readFileSync } from 'node:fs';

/**
 * Bytes in a page of memory, which Node does not tell: this process's size stands in /proc/self/status in
 * kB and in /proc/self/statm in pages. The nearest power of two makes up for what is allocated between.
 */
export const readPageSize = (): number =>
  parsePageSize(readFileSync('/proc/self/status', 'utf8'), readFileSync('/proc/self/statm', 'utf8'));

/** Throws where the two texts do not tell a size: no memory figure could be right then. */
export const parsePageSize = (status: string, statm: string): number => {
  const bytes = Number(/^VmSize:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  const size = 2 ** Math.round(Math.log2(bytes / Number.parseInt(statm, 10)));
  if (!Number.isFinite(size)) {
    throw new Error('/proc does not tell the size of a page of memory');
  }
  return size;
};
