import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { waitUntil } from '../../../support/wait.ts';
import { atEnd, createTemporaryFolder } from './ending.ts';

const run = promisify(execFile);
export const MiB = 1024 * 1024;

export type DiskKind = 'ext4' | 'xfs';

/** File system on a separate loop device. */
export interface Disk {
  path: string;
  /** Unmounts and remounts the file system. After a power cut, it recovers from its own journal. */
  remount(): Promise<void>;
  /**
   * Limits requests to one page until the next remount. Linux's loop devices report success even if the image accepts
   * only part of a larger request.
   */
  splitRequests(): Promise<void>;
}

interface Options {
  kind: DiskKind;
  bytes: number;
  /** Folder for the image. The image is a sparse file. */
  folder?: string;
  mkfs?: { flags?: string[]; variables?: Record<string, string> };
}

/** Programs that these disks need. */
export const diskPrograms = ['mount', 'umount', 'findmnt', 'mkfs.ext4', 'mkfs.xfs', 'xfs_io'];

/** Creates a file system in an image and mounts it until the test ends. */
export const createDisk = async (t: TestContext, options: Options): Promise<Disk> => {
  const image = await createImage(t, options);
  const path = createTemporaryFolder(t);
  const mount = () => run('mount', ['-o', 'loop', image, path]);
  const limit = createRequestLimit(path);
  await mount();
  atEnd(t, () => {
    limit.lift();
    unmountLazily(path);
  });
  return {
    path,
    remount: async () => {
      limit.lift();
      await run('umount', [path]);
      // Other tests start programs in mount namespaces that include this mount and keep the file system in use.
      await waitUntil('no other program uses the file system', () => !isAttached(image));
      await mount();
    },
    splitRequests: limit.set,
  };
};

/** True while a loop device is backed by the image. */
const isAttached = (image: string): boolean =>
  readdirSync('/sys/block')
    .filter((device) => device.startsWith('loop'))
    .some((device) => readBackingFile(device) === image);

const readBackingFile = (device: string): string | undefined => {
  try {
    return readFileSync(`/sys/block/${device}/loop/backing_file`, 'utf8').trim();
  } catch {
    // The device has no image.
    return undefined;
  }
};

/** Unmounts a file system even if a failed test has left a file open. */
const unmountLazily = (path: string): void => {
  execFileSync('umount', ['--lazy', path]);
};

const createImage = async (t: TestContext, options: Options): Promise<string> => {
  const { kind, bytes, folder = createTemporaryFolder(t), mkfs: { flags = [], variables = {} } = {} } = options;
  const image = join(folder, 'image');
  writeFileSync(image, '');
  truncateSync(image, bytes);
  await run(`mkfs.${kind}`, ['-q', ...flags, image], { env: { ...process.env, ...variables } });
  return image;
};

interface RequestLimit {
  set(): Promise<void>;
  /** Removes the limit. A loop device would otherwise keep it for its next user. */
  lift(): void;
}

const createRequestLimit = (path: string): RequestLimit => {
  let lift = (): void => undefined;
  return {
    set: async () => {
      const { stdout } = await run('findmnt', ['--noheadings', '--output', 'SOURCE', path]);
      const setting = `/sys/block/${basename(stdout.trim())}/queue/max_sectors_kb`;
      const before = readFileSync(setting);
      writeFileSync(setting, '4');
      lift = () => writeFileSync(setting, before);
    },
    lift: () => {
      lift();
      lift = () => undefined;
    },
  };
};

/** In-memory file system. */
export interface MemoryDisk {
  path: string;
  resize(bytes: number): Promise<void>;
}

/** Mounts an in-memory file system of a given size until the test ends. */
export const createMemoryDisk = async (t: TestContext, bytes: number): Promise<MemoryDisk> => {
  const path = createTemporaryFolder(t);
  await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'signalbox-faults', path]);
  atEnd(t, () => unmountLazily(path));
  return {
    path,
    resize: async (size) => void (await run('mount', ['-o', `remount,size=${size}`, path])),
  };
};
