import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import type { ProcessorReading } from '../readings.ts';
import { type CpuShares, readOrNull } from '../sampler.ts';
import { readKernelNumber, readKernelText } from './kernel-file.ts';

/** A processor package and its logical processors. */
interface Package {
  members: [CpuInfo, ...CpuInfo[]];
  cores: number | null;
  l2CacheKB: number | null;
  l3CacheKB: number | null;
}

/** The part of the readings that rarely changes. `root` contains `proc` and `sys`; empty for this machine. */
export const readPackages = async (root: string): Promise<Package[]> => {
  const packages = new Map<number, CpuInfo[]>();
  for (const info of parseCpuInfo(await readFile(`${root}/proc/cpuinfo`, 'utf8'))) {
    const socket = info.socket ?? readKernelNumber(`${toFolder(root, info)}/topology/physical_package_id`);
    // Some ARM machines report -1 for "unknown"; they have one package.
    const key = Math.max(0, socket ?? 0);
    packages.set(key, [...(packages.get(key) ?? []), info]);
  }
  return [...packages.values()].flatMap(([first, ...others]) => (first ? [toPackage(root, [first, ...others])] : []));
};

/** One reading for each package, with its current clock speed and load. */
export const toLinuxProcessors = (root: string, packages: readonly Package[], shares: CpuShares): ProcessorReading[] =>
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

const toPackage = (root: string, members: [CpuInfo, ...CpuInfo[]]): Package => {
  const folders = members.map((member) => toFolder(root, member));
  // Threads of one core list the same siblings.
  const cores = new Set(folders.map((folder) => readKernelText(`${folder}/topology/thread_siblings_list`)));
  const caches = folders.flatMap(listCaches);
  return {
    members,
    cores: cores.has(null) ? null : cores.size,
    l2CacheKB: sumLevel(caches, '2'),
    l3CacheKB: sumLevel(caches, '3'),
  };
};

const toFolder = (root: string, { index }: CpuInfo): string => `${root}/sys/devices/system/cpu/cpu${index}`;

const toMHz = (kilohertz: number | null): number | null => round(kilohertz && kilohertz / 1000);

const round = (value: number | null): number | null => value && Math.round(value);

const toLoad = (members: readonly CpuInfo[], shares: CpuShares): number => {
  const sum = members.reduce((total, { index }) => total + (shares.get(`cpu${index}`) ?? 0), 0);
  return (100 * sum) / members.length;
};

type Cache = ReturnType<typeof listCaches>[number];

const listCaches = (cpuFolder: string) =>
  (readOrNull(() => readdirSync(`${cpuFolder}/cache`)) ?? [])
    .filter((name) => name.startsWith('index'))
    .map((name) => {
      const folder = `${cpuFolder}/cache/${name}`;
      return {
        level: readKernelText(`${folder}/level`),
        kilobytes: Number.parseInt(readKernelText(`${folder}/size`) ?? '0', 10),
        // The same for all processors that share it.
        sharedBy: readKernelText(`${folder}/shared_cpu_list`) ?? folder,
      };
    });

/** Caches of one level add up, but a shared one counts once; null if the kernel lists none. */
const sumLevel = (caches: readonly Cache[], level: string): number | null => {
  const distinct = new Map(
    caches.filter((cache) => cache.level === level).map(({ sharedBy, kilobytes }) => [sharedBy, kilobytes]),
  );
  return distinct.size === 0 ? null : [...distinct.values()].reduce((sum, size) => sum + size, 0);
};

/** A block of /proc/cpuinfo: one logical processor. Null stands for values that this machine does not report. */
export interface CpuInfo {
  /** The N of `cpuN`. */
  index: number;
  name: string | null;
  manufacturer: string | null;
  socket: number | null;
  mhz: number | null;
  /** The flag that every hypervisor sets for its guests on x86; other architectures do not report it. */
  isGuest: boolean | null;
}

/** Parses the content of /proc/cpuinfo. */
export const parseCpuInfo = (content: string): CpuInfo[] =>
  content
    .split('\n\n')
    .filter((block) => /^processor\s*:/m.test(block))
    .map(parseBlock);

const parseBlock = (block: string): CpuInfo => {
  const textOf = (key: string): string | null =>
    new RegExp(`^${key}[ \\t]*:[ \\t]*(.+)$`, 'm').exec(block)?.[1]?.trim() ?? null;
  const numberOf = (key: string): number | null => {
    const value = textOf(key);
    return value === null ? null : Number(value);
  };
  const flags = textOf('flags');
  return {
    index: Number(textOf('processor')),
    name: textOf('model name'),
    manufacturer: textOf('vendor_id'),
    socket: numberOf('physical id'),
    mhz: numberOf('cpu MHz'),
    isGuest: flags === null ? null : flags.split(' ').includes('hypervisor'),
  };
};
