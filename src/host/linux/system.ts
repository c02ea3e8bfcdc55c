import { readdirSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { arch, cpus, endianness, hostname, release, version } from 'node:os';
import { createSharedReading, readKernelNumber, readKernelText, readOrNull } from '../reading.ts';
import type { ProcessorReading, SystemReading } from '../readings.ts';
import type { CpuShares } from '../sampler.ts';

/** Maximum age in milliseconds of readings that change only when the system is replaced or the machine is renamed. */
const constantMaxAgeMs = 60_000;

/** Reads `HostReadings.system` from the tree at `root`. The tree contains `etc`, `proc`, `run`, `sys` and `usr`. */
export const createSystemReader = (root: string, readBootedAt: () => Date): (() => Promise<SystemReading>) => {
  const readConstant = createSharedReading(() => readMachine(root), constantMaxAgeMs);
  return async () => ({
    ...(await readConstant()),
    bootedAt: readBootedAt(),
    userCount: await countUsers(`${root}/run`),
  });
};

const readMachine = async (root: string): Promise<Omit<SystemReading, 'bootedAt' | 'userCount'>> => {
  const osRelease = (await readText(`${root}/etc/os-release`)) || (await readText(`${root}/usr/lib/os-release`));
  return {
    hostname: hostname(),
    domain: findDomain(hostname(), await readText(`${root}/etc/hosts`)),
    osName: parseOsName(osRelease),
    osVersion: release(),
    osBuild: version(),
    architecture: arch(),
    manufacturer: readKernelText(`${root}/sys/class/dmi/id/sys_vendor`),
    model: readKernelText(`${root}/sys/class/dmi/id/product_name`) ?? readKernelText(`${root}/proc/device-tree/model`),
    hypervisorPresent: parseCpuInfo(await readText(`${root}/proc/cpuinfo`))[0]?.isGuest ?? null,
  };
};

const readText = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

/**
 * Finds the domain in the host name, or in the full host name in /etc/hosts. Does not ask name servers, because they
 * may be slow to respond.
 */
export const findDomain = (host: string, hostsFile: string): string | null => {
  const names = hostsFile.split('\n').flatMap((line) => line.replace(/#.*/, '').trim().split(/\s+/).slice(1));
  const full = [host, ...names].find((name) => (name === host ? host.includes('.') : name.startsWith(`${host}.`)));
  return full?.slice(full.indexOf('.') + 1) ?? null;
};

/**
 * Parses PRETTY_NAME of os-release(5). Null if missing. Values may be quoted as in a shell, with a backslash before
 * `"`, `$`, backtick and backslash.
 */
export const parseOsName = (content: string): string | null => {
  const assigned = /^PRETTY_NAME=(.*)$/m.exec(content)?.[1]?.trim() ?? '';
  const [, quoted] = /^(?:"(.*)"|'.*')$/.exec(assigned) ?? [];
  const value = quoted === undefined ? assigned.replace(/^'(.*)'$/, '$1') : quoted.replace(/\\(.)/g, '$1');
  return value || null;
};

/** Value of ut_type for the session of a user. See utmp(5). */
const userProcess = 7;

/** Processors with 64-bit times in records, by `__WORDSIZE_TIME64_COMPAT32` in glibc's headers. */
const withLongTimes = ['arm64', 'loong64', 's390x'];

/** Returns the possible lengths of a record in bytes, the usual one first: 400 with 64-bit times, otherwise 384. */
const toRecordLengths = (arch: string): readonly number[] => (withLongTimes.includes(arch) ? [400, 384] : [384, 400]);

/** Counts the sessions of logged-in users, using systemd-logind or else utmp. Null without either. */
export const countUsers = async (runFolder: string): Promise<number | null> =>
  (await countLogindSessions(`${runFolder}/systemd/sessions`)) ??
  (await readFile(`${runFolder}/utmp`).then(countUtmpUsers, () => null));

/** Counts the sessions in the content of a utmp file. Null if it is damaged. */
export const countUtmpUsers = (content: Buffer, arch: string = process.arch): number | null => {
  const length = toRecordLengths(arch).find((each) => content.length % each === 0);
  if (length === undefined) return null;
  const view = new DataView(content.buffer, content.byteOffset, content.length);
  let users = 0;
  for (let start = 0; start < content.length; start += length) {
    users += view.getInt16(start, endianness() === 'LE') === userProcess ? 1 : 0;
  }
  return users;
};

/** True if a file in /run/systemd/sessions describes the session of a user and not a login screen. */
const isUserSession = (content: string): boolean => /^CLASS=user$/m.test(content) && !/^STATE=closing$/m.test(content);

const countLogindSessions = async (folder: string): Promise<number | null> => {
  const names = await readdir(folder).catch(() => null);
  if (names === null) return null;
  // Each session also has a `.ref`, a pipe that would block a reader.
  const sessions = names.filter((name) => !name.includes('.'));
  const contents = await Promise.all(sessions.map((name) => readText(`${folder}/${name}`)));
  return contents.filter(isUserSession).length;
};

/** Processor package with its logical processors. */
interface Package {
  members: [CpuInfo, ...CpuInfo[]];
  cores: number | null;
  l2CacheKB: number | null;
  l3CacheKB: number | null;
}

/**
 * Reads processor data that rarely changes. `root` is the folder that contains `proc` and `sys`. It is empty for this
 * machine.
 */
export const readPackages = async (root: string): Promise<Package[]> => {
  const packages = new Map<number, CpuInfo[]>();
  for (const info of parseCpuInfo(await readFile(`${root}/proc/cpuinfo`, 'utf8'))) {
    const socket = info.socket ?? readKernelNumber(`${toFolder(root, info)}/topology/physical_package_id`);
    // Some ARM machines report -1 for "unknown". Such machines have one package.
    const key = Math.max(0, socket ?? 0);
    packages.set(key, [...(packages.get(key) ?? []), info]);
  }
  return [...packages.values()].flatMap(([first, ...others]) => (first ? [toPackage(root, [first, ...others])] : []));
};

/** Returns a reading for each package, including its current clock speed and load. */
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
  // Threads of the same core list the same siblings.
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
        // All processors that share a cache have the same list.
        sharedBy: readKernelText(`${folder}/shared_cpu_list`) ?? folder,
      };
    });

/** Adds up the caches of one level, counting a shared cache once. Null if the kernel lists no caches. */
const sumLevel = (caches: readonly Cache[], level: string): number | null => {
  const distinct = new Map(
    caches.filter((cache) => cache.level === level).map(({ sharedBy, kilobytes }) => [sharedBy, kilobytes]),
  );
  return distinct.size === 0 ? null : [...distinct.values()].reduce((sum, size) => sum + size, 0);
};

/** Block of /proc/cpuinfo for one logical processor. Values are null if this machine does not report them. */
export interface CpuInfo {
  /** The N in `cpuN`. */
  index: number;
  name: string | null;
  manufacturer: string | null;
  socket: number | null;
  mhz: number | null;
  /** Flag that every hypervisor sets for its guests on x86. Other architectures do not report the flag. */
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
