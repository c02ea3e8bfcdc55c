import { statfs } from 'node:fs/promises';
import type { FileSystemReading } from '../../readings.ts';
import type { HangGuard } from '../../sampling/hang-guard.ts';
import { createSharedReading } from '../../sampling/shared-reading.ts';
import { readBlockDevice, readDeviceNumber, readLabels } from './block-device.ts';
import { isUserSpace, toKindOfType } from './kind.ts';
import { type Mount, readVisibleMounts } from './mount-table.ts';

/** How long to wait for the size of a file system whose server may be gone. */
const patienceMs = 1000;

type Size = Pick<FileSystemReading, 'totalBytes' | 'usedBytes' | 'availableBytes'>;

/** A mount, before its size is read. */
interface Candidate extends Omit<FileSystemReading, keyof Size> {
  /** The fixed local disk it is on, or null. */
  disk: string | null;
  mayHang: boolean;
}

/**
 * Reads `HostReadings.fileSystems` and `fixedDisks`; concurrent calls share one reading. `root` contains `proc`, `sys`
 * and `dev`; it is empty for this machine.
 */
export const createFileSystemReader = (root: string, guard: HangGuard) => {
  const measure = async ({ disk, mayHang, ...rest }: Candidate): Promise<FileSystemReading[]> => {
    const read = () => readSize(rest.mountPath);
    const size = await (mayHang ? guard(read, patienceMs) : read());
    return size && size.totalBytes > 0 ? [{ ...rest, ...size }] : [];
  };
  const measureAll = async (candidates: Candidate[]): Promise<FileSystemReading[]> =>
    (await Promise.all(candidates.map(measure))).flat();
  return {
    fileSystems: createSharedReading(async () => measureAll(await listCandidates(root)), 0),
    // Disks are selected first, so listing them never accesses a network file system.
    fixedDisks: createSharedReading(async () => measureAll(toFixedDisks(await listCandidates(root))), 0),
  };
};

/** The size as `df` reports it; null if the path cannot be read. */
export const readSize = async (path: string): Promise<Size | null> => {
  const found = await statfs(path).catch(() => null);
  return (
    found && {
      totalBytes: found.blocks * found.bsize,
      usedBytes: (found.blocks - found.bfree) * found.bsize,
      availableBytes: found.bavail * found.bsize,
    }
  );
};

/** The root file system, and each disk once. */
export const toFixedDisks = <T extends Pick<Candidate, 'disk' | 'mountPath'>>(candidates: T[]): T[] =>
  keepShortest(
    candidates.filter(({ disk, mountPath }) => disk !== null || mountPath === '/'),
    ({ disk, mountPath }) => disk ?? mountPath,
  );

const listCandidates = async (root: string): Promise<Candidate[]> => {
  const mounts = (await readVisibleMounts(`${root}/proc`)).filter(({ type }) => type !== 'autofs');
  const labels = await readLabels(`${root}/dev`);
  const distinct = keepShortest(mounts, ({ device }) => device);
  return Promise.all(distinct.map((mount) => describe(root, mount, labels)));
};

const describe = async (root: string, mount: Mount, labels: Map<string, string>): Promise<Candidate> => {
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

/** Btrfs and others that span devices have an invented number; the device they were mounted from is real. */
const findDeviceNumber = async ({ device, source }: Mount): Promise<string | null> => {
  if (!device.startsWith('0:')) return device;
  return source.startsWith('/dev/') ? readDeviceNumber(source) : null;
};

/** All data sets of a ZFS pool are on the same disks. */
const toPool = ({ type, source }: Mount): string | null =>
  type === 'zfs' ? `zfs:${source.split('/', 1).join()}` : null;

/** Keeps one item of each key: the first with the shortest mount path. */
const keepShortest = <T extends { mountPath: string }>(items: T[], keyOf: (item: T) => string): T[] => {
  const kept = new Map<string, T>();
  for (const item of items) {
    const rival = kept.get(keyOf(item));
    if (!rival || item.mountPath.length < rival.mountPath.length) kept.set(keyOf(item), item);
  }
  return [...kept.values()];
};
