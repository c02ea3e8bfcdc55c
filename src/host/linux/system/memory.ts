import { readFile } from 'node:fs/promises';
import type { MemoryReading } from '../../readings.ts';

export const readMemory = async (procFolder: string): Promise<MemoryReading> =>
  parseMemory(await readFile(`${procFolder}/meminfo`, 'utf8'));

/** Parses the content of /proc/meminfo, whose kB are KiB. */
export const parseMemory = (meminfo: string): MemoryReading => {
  const bytesOf = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(meminfo)?.[1]) * 1024;
  return {
    total: bytesOf('MemTotal'),
    available: bytesOf('MemAvailable'),
    swapTotal: bytesOf('SwapTotal'),
    swapFree: bytesOf('SwapFree'),
  };
};
