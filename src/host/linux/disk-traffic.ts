import { readKernelFile } from '../reading.ts';
import type { DiskTraffic } from '../readings.ts';

/** Bytes of a sector as /proc/diskstats counts them, whatever the disk has. */
const sectorBytes = 512;

/** Reads `HostReadings.diskTraffic`. */
export const readDiskTraffic = (root: string): Map<string, DiskTraffic> =>
  parseDiskTraffic(readKernelFile(`${root}/proc/diskstats`)?.toString('latin1') ?? '');

/** The content of /proc/diskstats by `major:minor`; see the kernel's admin-guide/iostats. */
const parseDiskTraffic = (diskstats: string): Map<string, DiskTraffic> =>
  new Map(
    diskstats.split('\n').flatMap((line): [string, DiskTraffic][] => {
      const [major, minor, , , , sectorsRead, , , , sectorsWritten] = line.trim().split(/ +/);
      if (sectorsWritten === undefined) return [];
      return [
        [
          `${major}:${minor}`,
          { read: Number(sectorsRead) * sectorBytes, written: Number(sectorsWritten) * sectorBytes },
        ],
      ];
    }),
  );
