import { createLinuxReadings } from './linux/index.ts';
import { createPortableReadings } from './portable.ts';
import type { HostReadings } from './readings.ts';

/** The readings for this machine. */
export const createHostReadings = (platform: NodeJS.Platform = process.platform): HostReadings =>
  platform === 'linux' ? createLinuxReadings() : createPortableReadings();
