import { readdirSync, readlinkSync, statSync } from 'node:fs';
import type { ProcessDetails } from '../../readings.ts';
import { mapInSlices } from '../../sampling/time-slices.ts';
import { readKernelFile, readOrNull } from '../kernel-file.ts';

/** Reads `HostReadings.processDetails`. */
export const readProcessDetails = async (
  procFolder: string,
  pids: readonly number[],
): Promise<Map<number, ProcessDetails>> => {
  const entries = await mapInSlices(pids, (pid): [number, ProcessDetails] | null => {
    const folder = `${procFolder}/${pid}`;
    const status = readKernelFile(`${folder}/status`)?.toString();
    return status ? [pid, { ...parseStatusSizes(status), ...readLinks(folder) }] : null;
  });
  return new Map(entries);
};

/** Sizes from the content of /proc/PID/status; null for kernel threads, which have no memory. */
export const parseStatusSizes = (status: string): Pick<ProcessDetails, 'privateBytes' | 'pagedBytes'> => {
  const sizeOf = (name: string): number | null => {
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1024;
  };
  return { privateBytes: sizeOf('VmData'), pagedBytes: sizeOf('VmSwap') };
};

/** Null for processes of other users, and for processes that have ended. */
const readLinks = (folder: string): Pick<ProcessDetails, 'executablePath' | 'handles'> => ({
  executablePath: readOrNull(() => readlinkSync(`${folder}/exe`)),
  // Since Linux 6.2 the size of the folder is the number of its entries; before, it is 0.
  handles: readOrNull(() => statSync(`${folder}/fd`).size || readdirSync(`${folder}/fd`).length),
});
