import type { FileSystemReading } from '../../../host/readings.ts';
import { isLike } from '../../wildcards.ts';
import type { WatchSettings } from '../schema.ts';
import { defineWatchType, type Finding, findNamed, type ListPast, toBytesText, toPercentText } from '../type.ts';

/** Used share, free bytes or inodes of file systems. */
export const diskWatch = defineWatchType({
  name: 'disk',
  scope: () => 'machine',
  keys: ['mounts', 'metric'],
  limit: 'required',
  isLowBad: ({ metric }) => metric === 'free',
  every: 10,
  findProblem: ({ metric = 'used' }) =>
    ['used', 'free', 'inodes'].includes(metric) ? undefined : 'metric must be used, free or inodes',
  listPast: (watch, thing, list) => toPast(watch, thing, list),
  check: async (watch, { host, shared }) => {
    const { mounts } = watch;
    if (!mounts) return (await host.disksOfMinute()).flatMap((disk) => toFinding(watch, disk) ?? []);
    const disks = await shared.fileSystems();
    const nameOf = ({ mountPath }: FileSystemReading): string => mountPath;
    const { found, missing: unfound } = findNamed(disks, mounts, nameOf, isLike);
    // The same file system may be mounted several times.
    const others = disks.flatMap(({ otherPaths = [], ...disk }) =>
      otherPaths.map((mountPath) => ({ ...disk, mountPath })),
    );
    const { found: again, missing } = findNamed(others, unfound, nameOf, isLike);
    return [
      ...[...found, ...again].flatMap((disk) => toFinding(watch, disk) ?? []),
      ...missing.map((thing): Finding => ({ thing, isUnknown: true, words: `no file system is mounted at ${thing}` })),
    ];
  },
});

const toPast = ({ metric = 'used' }: WatchSettings, mountPath: string, list: ListPast): number[] => {
  if (metric === 'inodes') return [];
  const [used, total] = [list({ mountPath, of: 'used' }), list({ mountPath, of: 'total' })];
  return total.map((all, index) => {
    const taken = used[index] ?? Number.NaN;
    return metric === 'free' ? all - taken : (100 * taken) / all;
  });
};

/** As `df` counts: space reserved for root is neither used nor free. */
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
  // Some file systems make as many as they need.
  if (!inodes) return undefined;
  const percent = (100 * (inodes.total - inodes.free)) / inodes.total;
  const words = `${thing} has used ${toPercentText(percent)} of its inodes (${inodes.free} free)`;
  return { thing, figure: percent, toText: toPercentText, words };
};
