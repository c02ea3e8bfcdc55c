import { disksAt, mostDisks } from './columns.ts';
import type { Disks } from './file.ts';
import type { Ring } from './ring.ts';

/**
 * Gives each disk that is mounted now a pair of columns, as long as there are some. A disk that has no reading left in the
 * rings frees its columns; if there are too few, the disk that was seen longest ago loses them.
 */
export const assignDisks = (disks: Disks, mounted: readonly string[], rings: readonly Ring[], now: number): void => {
  const lastSeen = (slot: number): number => Math.max(...rings.map((ring) => ring.findLast(disksAt + 2 * slot, now)));
  const isGone = (mountPath: string): boolean => !mounted.includes(mountPath);
  for (const [slot, mountPath] of disks.entries()) {
    if (isGone(mountPath) && lastSeen(slot) === 0) disks[slot] = '';
  }
  for (const mountPath of mounted) {
    if (disks.includes(mountPath)) continue;
    if (disks.length < mostDisks && !disks.includes('')) disks.push('');
    const [slot] = [...disks.keys()]
      .filter((each) => isGone(disks[each] as string))
      .sort((a, b) => lastSeen(a) - lastSeen(b));
    if (slot === undefined) return;
    disks[slot] = mountPath;
    for (const ring of rings) {
      for (const column of [0, 1]) ring.clear(disksAt + 2 * slot + column);
    }
  }
};
