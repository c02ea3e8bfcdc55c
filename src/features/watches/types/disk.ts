import { type FileSystemReading, isWritable } from '../../../host/readings.ts';
import type { WatchSettings } from '../schema.ts';
import {
  defineWatchType,
  type Finding,
  findNamed,
  isExcepted,
  type ListPast,
  toBytesText,
  toPercentText,
} from '../watch-type.ts';

/** Measures the used share, the free bytes or the inodes of file systems. */
export const diskWatch = defineWatchType({
  name: 'disk',
  scope: () => 'machine',
  keys: ['mounts', 'metric', 'except'],
  limit: 'required',
  isLowBad: ({ metric }) => metric === 'free',
  every: 10,
  findProblem: ({ metric = 'used' }) =>
    ['used', 'free', 'inodes'].includes(metric) ? undefined : 'metric must be used, free or inodes',
  listPast: (watch, thing, list) => toPast(watch, thing, list),
  check: async (watch, { host, shared }) => {
    const { mounts } = watch;
    if (!mounts) {
      return (await host.disksOfMinute())
        .filter((disk) => isWritable(disk) && !isExcepted(watch, disk.mountPath))
        .flatMap((disk) => toFinding(watch, disk) ?? []);
    }
    // Read-only file systems are full by design, so they are matched only by their exact names.
    const disks = (await shared.fileSystems())
      .flatMap(toMounted)
      .filter((disk) => (isWritable(disk) || mounts.includes(disk.mountPath)) && !isExcepted(watch, disk.mountPath));
    const { found, missing: unfound } = findNamed(
      disks.filter(({ isMain }) => isMain),
      mounts,
      nameOf,
    );
    // A file system may have several mount paths.
    const { found: again, missing } = findNamed(
      disks.filter(({ isMain }) => !isMain),
      unfound,
      nameOf,
    );
    return [
      ...found.concat(again).flatMap((disk) => toFinding(watch, disk) ?? []),
      ...missing.map((thing): Finding => {
        const what = thing.includes('*') ? 'no writable file system' : 'no file system';
        return { thing, isUnknown: true, words: `${what} is mounted at ${thing}` };
      }),
    ];
  },
});

/** Lists a file system once for each of its mount paths. */
const toMounted = ({ otherPaths = [], ...disk }: FileSystemReading) => [
  { ...disk, isMain: true },
  ...otherPaths.map((mountPath) => ({ ...disk, mountPath, isMain: false })),
];

const nameOf = ({ mountPath }: Pick<FileSystemReading, 'mountPath'>): string => mountPath;

const toPast = ({ metric = 'used' }: WatchSettings, mountPath: string, list: ListPast): number[] => {
  if (metric === 'inodes') return [];
  const [used, total] = [list({ mountPath, of: 'used' }), list({ mountPath, of: 'total' })];
  return total.map((all, index) => {
    const taken = used[index] ?? Number.NaN;
    return metric === 'free' ? all - taken : (100 * taken) / all;
  });
};

/** Returns the used share. As in `df`, space reserved for root counts as neither used nor free. */
const toUsedShare = ({ usedBytes, availableBytes }: Pick<FileSystemReading, 'usedBytes' | 'availableBytes'>) =>
  usedBytes / (usedBytes + availableBytes);

const toFinding = ({ metric = 'used' }: WatchSettings, disk: FileSystemReading): Finding | undefined => {
  const { mountPath: thing, availableBytes, inodes } = disk;
  if (metric === 'free') {
    return {
      thing,
      figure: availableBytes,
      toText: toBytesText,
      words: `${thing} has ${toBytesText(availableBytes)} free`,
    };
  }
  if (metric === 'used') {
    const percent = 100 * toUsedShare(disk);
    if (Number.isNaN(percent)) return undefined;
    const words = `${thing} is ${toPercentText(percent)} full (${toBytesText(availableBytes)} free)`;
    return { thing, figure: percent, toText: toPercentText, words };
  }
  // Some file systems create inodes on demand.
  if (!inodes) return undefined;
  const percent = (100 * (inodes.total - inodes.free)) / inodes.total;
  const words = `${thing} has used ${toPercentText(percent)} of its inodes (${inodes.free} free)`;
  return { thing, figure: percent, toText: toPercentText, words };
};
