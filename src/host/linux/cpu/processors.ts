import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import type { ProcessorReading } from '../../readings.ts';
import type { CpuShares } from '../../sampling/cpu-sampler.ts';
import { readKernelNumber, readKernelText } from '../kernel-file.ts';
import { type CacheSizes, readCacheSizes } from './cpu-caches.ts';
import { type CpuInfo, parseCpuInfo } from './cpu-info.ts';

/** A processor package and the logical processors in it. */
interface Package extends CacheSizes {
  members: [CpuInfo, ...CpuInfo[]];
  cores: number | null;
}

/** The root of the tree that holds `proc` and `sys`; empty for the machine's own. */
type Root = string;

/** What does not change while the processors stay the same: read once in a while only. */
export const readPackages = async (root: Root): Promise<Package[]> => {
  const packages = new Map<number, CpuInfo[]>();
  for (const info of parseCpuInfo(await readFile(`${root}/proc/cpuinfo`, 'utf8'))) {
    const socket = info.socket ?? readKernelNumber(`${toFolder(root, info)}/topology/physical_package_id`);
    // Some ARM machines say -1 for "not known"; they have one package.
    const key = Math.max(0, socket ?? 0);
    packages.set(key, [...(packages.get(key) ?? []), info]);
  }
  return [...packages.values()].flatMap(([first, ...others]) =>
    first ? [toPackage(root, [first, ...others])] : [],
  );
};

/** One reading for each package; clock speed and load are those of now. */
export const toProcessorReadings = (
  root: Root,
  packages: readonly Package[],
  shares: CpuShares,
): ProcessorReading[] =>
  packages.map(({ members, cores, l2CacheKB, l3CacheKB }, index) => {
    const [first] = members;
    const cpufreq = `${toFolder(root, first)}/cpufreq`;
    return {
      id: `CPU${index}`,
      name: first.name ?? cpus()[first.index]?.model ?? null,
      manufacturer: first.manufacturer,
      maxMHz: toMHz(readKernelNumber(`${cpufreq}/cpuinfo_max_freq`)),
      currentMHz: toMHz(readKernelNumber(`${cpufreq}/scaling_cur_freq`)) ?? round(first.mhz),
      cores,
      logicalProcessors: members.length,
      loadPercent: toLoad(members, shares),
      l2CacheKB,
      l3CacheKB,
    };
  });

const toPackage = (root: Root, members: [CpuInfo, ...CpuInfo[]]): Package => {
  const folders = members.map((member) => toFolder(root, member));
  // Threads of one core list the same siblings.
  const cores = new Set(folders.map((folder) => readKernelText(`${folder}/topology/thread_siblings_list`)));
  return { members, cores: cores.has(null) ? null : cores.size, ...readCacheSizes(folders) };
};

const toFolder = (root: Root, { index }: CpuInfo): string => `${root}/sys/devices/system/cpu/cpu${index}`;

const toMHz = (kilohertz: number | null): number | null => round(kilohertz && kilohertz / 1000);

const round = (value: number | null): number | null => value && Math.round(value);

const toLoad = (members: readonly CpuInfo[], shares: CpuShares): number => {
  const sum = members.reduce((total, { index }) => total + (shares.get(`cpu${index}`) ?? 0), 0);
  return (100 * sum) / members.length;
};
