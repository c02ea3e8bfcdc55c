import type { Systeminformation } from 'systeminformation';
import type { FileSystemKind, FileSystemReading } from '../readings.ts';

type Size = Pick<Systeminformation.FsSizeData, 'fs' | 'type' | 'size' | 'used' | 'available' | 'mount'>;
type Device = Pick<Systeminformation.BlockDevicesData, 'name' | 'type' | 'mount' | 'physical' | 'removable' | 'label'>;

/** By systeminformation's name for a drive (Windows) or a block device. */
const kindOfDrive: Record<string, FileSystemKind> = {
  Removable: 'removable',
  Network: 'network',
  'CD/DVD': 'optical',
  RAM: 'memory',
};

/** Joins sizes with their devices; both lists must be read at the same time. */
export const toFileSystemReadings = (sizes: readonly Size[], devices: readonly Device[]): FileSystemReading[] =>
  sizes
    .filter(({ size }) => size > 0)
    .map((size) => {
      const device = findDevice(size, devices);
      return {
        mountPath: size.mount,
        device: size.fs,
        type: size.type,
        kind: device ? toKindOfDevice(device) : toKindOfSource(size),
        label: device?.label || null,
        totalBytes: size.size,
        usedBytes: size.used,
        availableBytes: size.available,
      };
    });

/** The root file system, and each fixed device once, at its shortest mount path. */
export const toFixedDisks = (
  readings: readonly FileSystemReading[],
  devices: readonly Device[],
): FileSystemReading[] => {
  const loops = new Set(devices.filter(({ type }) => type === 'loop').map(({ name }) => `/dev/${name}`));
  const listed = readings.filter(
    ({ kind, device, mountPath }) =>
      mountPath === '/' || (kind === 'fixed' && isLocalDevice(device) && !loops.has(device)),
  );
  const byLength = listed.toSorted((a, b) => a.mountPath.length - b.mountPath.length);
  return byLength.filter(({ device }, index) => byLength.findIndex((other) => other.device === device) === index);
};

const findDevice = ({ fs, mount }: Size, devices: readonly Device[]): Device | undefined =>
  devices.find(({ name }) => name === fs || `/dev/${name}` === fs) ??
  devices.find((device) => device.mount !== '' && device.mount === mount);

const toKindOfDevice = ({ physical, removable }: Device): FileSystemKind =>
  kindOfDrive[physical] ?? (removable ? 'removable' : 'fixed');

/** Without a block device: `//server/share` and `server:/path` are on a network, the rest is in memory. */
const toKindOfSource = ({ fs, mount }: Size): FileSystemKind => {
  if (isLocalDevice(fs) || mount === '/') return 'fixed';
  return fs.startsWith('//') || fs.includes(':') ? 'network' : 'memory';
};

/** A device file, or a drive letter. */
const isLocalDevice = (device: string): boolean => device.startsWith('/dev/') || /^[A-Z]:$/i.test(device);
