import { readdir, readFile, readlink, realpath, stat, statfs } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { createSharedReading, freshMs, type HangGuard, readKernelText } from '../reading.ts';
import type { FileSystemKind, FileSystemReading } from '../readings.ts';

/** Milliseconds to wait for the size of a file system. Its server may not respond. */
const patienceMs = 1000;

type Size = Pick<FileSystemReading, 'totalBytes' | 'usedBytes' | 'availableBytes' | 'inodes'>;

/** Mount whose size has not been read yet. */
interface Candidate extends Omit<FileSystemReading, keyof Size> {
  /** Fixed local disk of the mount. Null if there is none. */
  disk: string | null;
  mayHang: boolean;
}

/**
 * Creates the reader for `HostReadings.fileSystems` and `fixedDisks`. Concurrent calls share one reading. `root` is the
 * folder that contains `proc`, `sys` and `dev`. It is empty for this machine.
 */
export const createFileSystemReader = (root: string, guard: HangGuard) => {
  const measure = async ({ disk, mayHang, ...rest }: Candidate): Promise<FileSystemReading[]> => {
    const read = () => readSize(rest.mountPath);
    const size = await (mayHang ? guard(read, patienceMs) : read());
    return size && size.totalBytes > 0 ? [{ ...rest, ...size, deviceNumber: disk }] : [];
  };
  const measureAll = async (candidates: Candidate[]): Promise<FileSystemReading[]> =>
    (await Promise.all(candidates.map(measure))).flat();
  // Disks are selected first, so that listing disks never accesses a network file system.
  const fixedDisks = createSharedReading(async () => measureAll(toLinuxDisks(await listCandidates(root))), 0);
  return {
    fileSystems: createSharedReading(async () => measureAll(await listCandidates(root)), 0),
    fixedDisks,
    disksOfMinute: createSharedReading(fixedDisks, freshMs),
  };
};

/** Reads the size that `df` reports. Null if the path cannot be read. */
export const readSize = async (path: string): Promise<Size | null> => {
  const found = await statfs(path).catch(() => null);
  return (
    found && {
      totalBytes: found.blocks * found.bsize,
      usedBytes: (found.blocks - found.bfree) * found.bsize,
      availableBytes: found.bavail * found.bsize,
      // Some file systems, such as btrfs, create inodes as needed.
      inodes: found.files > 0 ? { total: found.files, free: found.ffree } : null,
    }
  );
};

/** Returns the root file system, and each disk once. */
export const toLinuxDisks = <T extends Pick<Candidate, 'disk' | 'mountPath'>>(candidates: T[]): T[] =>
  keepShortest(
    candidates.filter(({ disk, mountPath }) => disk !== null || mountPath === '/'),
    ({ disk, mountPath }) => disk ?? mountPath,
  );

const listCandidates = async (root: string): Promise<Candidate[]> => {
  const mountinfo = await readFile(`${root}/proc/self/mountinfo`, 'utf8');
  const mounts = toVisibleMounts(parseMounts(mountinfo)).filter(({ type }) => type !== 'autofs');
  const labels = await readLabels(`${root}/dev`);
  const distinct = keepShortest(mounts, ({ device }) => device);
  const described = await Promise.all(distinct.map((mount) => describe(root, mount, labels)));
  return described.map((candidate, index) => {
    const { device, mountPath } = distinct[index] as MountEntry;
    const otherPaths = mounts.flatMap((mount) =>
      mount.device === device && mount.mountPath !== mountPath ? mount.mountPath : [],
    );
    const isReadOnly = mounts.every((mount) => mount.device !== device || mount.isReadOnly);
    return { ...candidate, ...(otherPaths.length > 0 && { otherPaths }), ...(isReadOnly && { isReadOnly }) };
  });
};

const describe = async (root: string, mount: MountEntry, labels: Map<string, string>): Promise<Candidate> => {
  const number = await findDeviceNumber(mount);
  const device = number === null ? null : await readBlockDevice(`${root}/sys`, number);
  const kind = device?.kind ?? toKindOfType(mount.type);
  return {
    mountPath: mount.mountPath,
    device: mount.source,
    type: mount.type,
    kind: kind === 'loop' ? 'fixed' : kind,
    label: (device && labels.get(device.name)) ?? null,
    disk: kind === 'fixed' ? (number ?? toPool(mount)) : null,
    mayHang: kind === 'network' || isUserSpace(mount.type),
  };
};

/**
 * Finds the device number. Btrfs and other file systems that span devices have an invented number, but the device from
 * which they were mounted has a real one.
 */
const findDeviceNumber = async ({ device, source }: MountEntry): Promise<string | null> => {
  if (!device.startsWith('0:')) return device;
  return source.startsWith('/dev/') ? readDeviceNumber(source) : null;
};

/** Returns the ZFS pool. All data sets of a pool are on the same disks. */
const toPool = ({ type, source }: MountEntry): string | null =>
  type === 'zfs' ? `zfs:${source.split('/', 1).join()}` : null;

/** Keeps one item per key: the first one with the shortest mount path. */
const keepShortest = <T extends { mountPath: string }>(items: T[], keyOf: (item: T) => string): T[] => {
  const kept = new Map<string, T>();
  for (const item of items) {
    const rival = kept.get(keyOf(item));
    if (!rival || item.mountPath.length < rival.mountPath.length) kept.set(keyOf(item), item);
  }
  return [...kept.values()];
};

/** Line of /proc/self/mountinfo. See proc_pid_mountinfo(5). */
interface MountEntry {
  id: number;
  parentId: number;
  /** `major:minor`. The major number is 0 for file systems without a block device of their own. */
  device: string;
  mountPath: string;
  type: string;
  source: string;
  isReadOnly: boolean;
}

export const parseMounts = (mountinfo: string): MountEntry[] => mountinfo.split('\n').filter(Boolean).map(parseMount);

/** Returns the mounts that no other mount covers, in table order. */
export const toVisibleMounts = (mounts: readonly MountEntry[]): MountEntry[] => {
  const ids = new Set(mounts.map(({ id }) => id));
  const isRoot = ({ id, parentId }: MountEntry): boolean => id === parentId || !ids.has(parentId);
  const childrenOf = new Map<number, MountEntry[]>();
  for (const mount of mounts.filter((each) => !isRoot(each))) {
    childrenOf.set(mount.parentId, (childrenOf.get(mount.parentId) ?? []).concat(mount));
  }
  const visible = new Set(mounts.filter(isRoot).flatMap((root) => listVisible(root, childrenOf)));
  return mounts.filter((mount) => visible.has(mount));
};

/**
 * Parses a line of mountinfo. Any number of optional fields precedes ` - `. The type, the source and the options follow
 * it.
 */
const parseMount = (line: string): MountEntry => {
  const [left = '', right = ''] = line.split(/ - (.*)/s);
  const [id, parentId, device = '', , path = '', options = ''] = left.split(' ');
  const [type = '', source = '', fileSystemOptions = ''] = right.split(' ');
  return {
    id: Number(id),
    parentId: Number(parentId),
    device,
    mountPath: unescapeOctal(path),
    type,
    source: unescapeOctal(source),
    // The mount or the whole file system may be read-only.
    isReadOnly: [options, fileSystemOptions].some((list) => list.split(',').includes('ro')),
  };
};

/** Decodes white space and backslashes. They are encoded as three octal digits. */
const unescapeOctal = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

/**
 * Lists the visible mounts. A mount on the mount point itself hides it completely. A mount on a folder hides earlier
 * mounts below that folder.
 */
const listVisible = (mount: MountEntry, childrenOf: ReadonlyMap<number, MountEntry[]>): MountEntry[] => {
  const children = childrenOf.get(mount.id) ?? [];
  const cover = children.find(({ mountPath }) => mountPath === mount.mountPath);
  if (cover) return listVisible(cover, childrenOf);
  const paths = new Set(children.map(({ mountPath }) => mountPath));
  const isCovered = ({ mountPath }: MountEntry): boolean => listFolders(mountPath).some((folder) => paths.has(folder));
  const uncovered = children.filter((child) => !isCovered(child));
  return [mount, ...uncovered.flatMap((child) => listVisible(child, childrenOf))];
};

/** Lists the folders above a path: `/a` and `/a/b` for `/a/b/c`. */
const listFolders = (path: string): string[] =>
  [...path.matchAll(/(?<!^)\//g)].map(({ index }) => path.slice(0, index));

type BlockDeviceKind = FileSystemKind | 'loop';

/** Major numbers reserved for one kind of device (the kernel's admin-guide/devices.txt). */
const kindOfMajor: Record<string, BlockDeviceKind> = {
  1: 'memory',
  2: 'removable',
  7: 'loop',
  11: 'optical',
  43: 'network',
};

/** Drivers with major numbers that are assigned at runtime. */
const kindOfName: [RegExp, BlockDeviceKind][] = [
  [/^zram\d/, 'memory'],
  [/^rbd\d/, 'network'],
];

/**
 * Reads the kind of the block device with a `major:minor` number, and its name in /sys/block, e.g. `dm-0`. A device
 * composed of others (LVM, encryption, RAID) has the kind of its first part that is not fixed.
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

/** Returns the `major:minor` number of a block device file. Null for any other file. */
export const readDeviceNumber = async (path: string): Promise<string | null> => {
  const found = await stat(path).catch(() => null);
  return found?.isBlockDevice() ? toDeviceNumber(found.rdev) : null;
};

/** Decodes the kernel's 32-bit device number: the low byte of minor, 12 bits of major, and the rest of minor. */
export const toDeviceNumber = (encoded: number): string =>
  `${(encoded >>> 8) & 0xfff}:${(encoded & 0xff) | ((encoded >>> 12) & 0xfff00)}`;

/** Reads the labels of file systems from udev's links, by device name. Empty without udev. */
export const readLabels = async (devFolder: string): Promise<Map<string, string>> => {
  const folder = `${devFolder}/disk/by-label`;
  const names = await readdir(folder).catch(() => []);
  const entries = names.map(
    async (name) => [basename(await readlink(`${folder}/${name}`).catch(() => '')), unescapeLabel(name)] as const,
  );
  return new Map(await Promise.all(entries));
};

/** Decodes a label. udev writes each UTF-8 byte that is not allowed in a file name as `\x` and two hex digits. */
export const unescapeLabel = (name: string): string => {
  const bytes = Buffer.from(name)
    .toString('latin1')
    .replace(/\\x([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return Buffer.from(bytes, 'latin1').toString();
};

const readKind = async (sysFolder: string, folder: string): Promise<BlockDeviceKind> => {
  const named = kindOfName.find(([pattern]) => pattern.test(basename(folder)))?.[1];
  if (named) return named;
  // A partition's folder is inside the folder of its disk, and that folder has the flag.
  const disk = readKernelText(`${folder}/partition`) === null ? folder : dirname(folder);
  if (readKernelText(`${disk}/removable`) === '1') return 'removable';
  for (const part of await readdir(`${folder}/slaves`).catch(() => [])) {
    const number = readKernelText(`${folder}/slaves/${part}/dev`);
    const { kind } = await readBlockDevice(sysFolder, `${number}`);
    if (kind !== 'fixed') return kind;
  }
  return 'fixed';
};

/** File systems with files on another machine, or on the host of a virtual machine. */
const network = new Set([
  ...['nfs', 'nfs4', 'cifs', 'smb3', 'smbfs', 'afs', 'ceph', 'coda', 'lustre', 'gpfs', 'beegfs'],
  ...['orangefs', 'pvfs2', 'ncpfs', '9p', 'virtiofs', 'vboxsf', 'prl_fs'],
]);

/** Local file systems that are layers on top of others or manage their own devices. */
const layered = new Set('overlay aufs unionfs ecryptfs zfs btrfs bcachefs ubifs jffs2'.split(' '));

/** Returns the kind of a file system that has no block device. */
export const toKindOfType = (type: string): FileSystemKind => {
  if (network.has(type) || isUserSpace(type)) return 'network';
  return layered.has(type) ? 'fixed' : 'memory';
};

/** True for file systems served by a program (FUSE). They may hang like a network. */
export const isUserSpace = (type: string): boolean => /^fuse(?:blk|\..*)?$/.test(type);
