import { readdir, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { FileSystemKind } from '../../readings.ts';
import { readKernelText } from '../kernel-file.ts';

type BlockDeviceKind = FileSystemKind | 'loop';

/** Major numbers reserved for one kind of device (the kernel's admin-guide/devices.txt). */
const kindOfMajor: Record<string, BlockDeviceKind> = {
  1: 'memory',
  2: 'removable',
  7: 'loop',
  11: 'optical',
  43: 'network',
};

/** Drivers whose major numbers are assigned at run time. */
const kindOfName: [RegExp, BlockDeviceKind][] = [
  [/^zram\d/, 'memory'],
  [/^rbd\d/, 'network'],
];

/**
 * Reads the kind of the block device with a `major:minor` number, and its name in /sys/block, e.g. `dm-0`. A device
 * made of others (LVM, encryption, RAID) has the kind of the first of them that is not fixed.
 */
export const readBlockDevice = async (
  sysFolder: string,
  number: string,
): Promise<{ name: string; kind: BlockDeviceKind }> => {
  const known = kindOfMajor[number.split(':', 1).join()];
  const folder = await realpath(`${sysFolder}/dev/block/${number}`).catch(() => null);
  if (folder === null) return { name: number, kind: known ?? 'fixed' };
  return { name: basename(folder), kind: known ?? (await readKind(sysFolder, folder)) };
};

/** The `major:minor` number of a block device file; null for any other file. */
export const readDeviceNumber = async (path: string): Promise<string | null> => {
  const found = await stat(path).catch(() => null);
  return found?.isBlockDevice() ? toDeviceNumber(found.rdev) : null;
};

/** The kernel's encoding of a device number in 32 bits: minor's low byte, 12 bits major, rest of minor. */
export const toDeviceNumber = (encoded: number): string =>
  `${(encoded >>> 8) & 0xfff}:${(encoded & 0xff) | ((encoded >>> 12) & 0xfff00)}`;

/** Labels of file systems by the name of their device, from udev's links; empty without udev. */
export const readLabels = async (devFolder: string): Promise<Map<string, string>> => {
  const folder = `${devFolder}/disk/by-label`;
  const names = await readdir(folder).catch(() => []);
  const entries = names.map(
    async (name) => [basename(await readlink(`${folder}/${name}`).catch(() => '')), unescapeLabel(name)] as const,
  );
  return new Map(await Promise.all(entries));
};

/** udev writes each byte of UTF-8 that may not be in a file name as `\x` and two hex digits. */
export const unescapeLabel = (name: string): string => {
  const bytes = Buffer.from(name)
    .toString('latin1')
    .replace(/\\x([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return Buffer.from(bytes, 'latin1').toString();
};

const readKind = async (sysFolder: string, folder: string): Promise<BlockDeviceKind> => {
  const named = kindOfName.find(([pattern]) => pattern.test(basename(folder)))?.[1];
  if (named) return named;
  // A partition's folder is inside the folder of its disk, which has the flag.
  const disk = readKernelText(`${folder}/partition`) === null ? folder : dirname(folder);
  if (readKernelText(`${disk}/removable`) === '1') return 'removable';
  for (const part of await readdir(`${folder}/slaves`).catch(() => [])) {
    const number = readKernelText(`${folder}/slaves/${part}/dev`);
    const { kind } = await readBlockDevice(sysFolder, `${number}`);
    if (kind !== 'fixed') return kind;
  }
  return 'fixed';
};
