import { readdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import { readKernelFile, readOrNull } from '../reading.ts';
import type { CountersReading, CpuSeconds, DiskTraffic, MemoryReading } from '../readings.ts';

const loopback = 'lo';

/** Reads `HostReadings.counters`. */
export const readLinuxCounters = (root: string): CountersReading => {
  const proc = `${root}/proc`;
  const meminfo = parseMemory(readText(`${proc}/meminfo`));
  const memory = addCache(meminfo, readText(`${proc}/spl/kstat/zfs/arcstats`));
  const network = readText(`${proc}/net/dev`);
  const stat = readText(`${proc}/stat`);
  return {
    cpuSeconds: parseCpuSeconds(stat),
    ...(stat !== '' && { bootedAt: parseBootTime(stat) }),
    load: loadavg()[0] ?? 0,
    memory: Number.isNaN(memory.total) ? null : memory,
    network: network === '' ? null : sumUp(parseNetwork(network), listVirtual(root)),
  };
};

const readText = (path: string): string => readKernelFile(path)?.toString('latin1') ?? '';

/** Columns of /proc/stat. The guest columns after them are already included in user and nice. */
const modes = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal'];

/**
 * Clock ticks per second in /proc (USER_HZ). Only sysconf(3) reports the value. Because it is part of the kernel's
 * interface to programs, it is 100 on every architecture that Node runs on.
 */
export const ticksPerSecond = 100;

/** Parses the CPU times in /proc/stat. */
export const parseCpuSeconds = (stat: string): CpuSeconds =>
  new Map(
    Array.from(stat.matchAll(/^(cpu\d*) +([\d ]+)$/gm), ([, name = '', columns = '']) => {
      const ticks = columns.split(' ', modes.length);
      return [name, Object.fromEntries(ticks.map((value, index) => [modes[index], Number(value) / ticksPerSecond]))];
    }),
  );

/** Parses the boot time in /proc/stat (`btime`, whole seconds). */
export const parseBootTime = (stat: string): Date => new Date(Number(/^btime (\d+)$/m.exec(stat)?.[1]) * 1000);

/** Parses /proc/meminfo, where kB means KiB. */
export const parseMemory = (meminfo: string): MemoryReading => {
  const sizes = meminfo.matchAll(/^(MemTotal|MemAvailable|SwapTotal|SwapFree):\s+(\d+) kB$/gm);
  const bytes = new Map(Array.from(sizes, ([, name, kilobytes]) => [name, Number(kilobytes) * 1024]));
  const bytesOf = (name: string): number => bytes.get(name) ?? Number.NaN;
  return {
    total: bytesOf('MemTotal'),
    available: bytesOf('MemAvailable'),
    swapTotal: bytesOf('SwapTotal'),
    swapFree: bytesOf('SwapFree'),
  };
};

/**
 * Counts the part of ZFS's cache above its minimum as available. ZFS releases this memory like the page cache, and
 * MemAvailable includes the page cache. `arcstats` is the content of that file, empty without ZFS. Each line has a
 * name, a type and a value.
 */
const addCache = (memory: MemoryReading, arcstats: string): MemoryReading => {
  const readValue = (name: string): number =>
    Number(new RegExp(`^${name}\\s+\\d+\\s+(\\d+)$`, 'm').exec(arcstats)?.[1] ?? 0);
  const given = Math.max(0, readValue('size') - readValue('c_min'));
  return { ...memory, available: Math.min(memory.total, memory.available + given) };
};

interface InterfaceBytes {
  name: string;
  received: number;
  sent: number;
}

/** Parses the bytes of each interface in /proc/net/dev. */
const parseNetwork = (dev: string): InterfaceBytes[] =>
  Array.from(dev.matchAll(/^ *([^\s:]+):(.*)$/gm), ([, name = '', columns = '']) => {
    const values = columns.trim().split(/ +/).map(Number);
    return { name, received: values[0] ?? 0, sent: values[8] ?? 0 };
  });

/**
 * Lists interfaces without a device: loopback, and interfaces such as bridges whose bytes another interface also
 * counts.
 */
const listVirtual = (root: string): Set<string> =>
  new Set(readOrNull(() => readdirSync(`${root}/sys/devices/virtual/net`)) ?? []);

/**
 * Adds up the bytes of all real interfaces. If there are none, as in a container, adds up all interfaces except
 * loopback.
 */
const sumUp = (interfaces: readonly InterfaceBytes[], virtual: ReadonlySet<string>) => {
  const real = interfaces.filter(({ name }) => !virtual.has(name) && name !== loopback);
  const counted = real.length > 0 ? real : interfaces.filter(({ name }) => name !== loopback);
  const total = { received: 0, sent: 0 };
  for (const { received, sent } of counted) {
    total.received += received;
    total.sent += sent;
  }
  return total;
};

/** Bytes of a sector in /proc/diskstats, regardless of the sector size of the disk. */
const sectorBytes = 512;

/** Reads `HostReadings.diskTraffic`. */
export const readDiskTraffic = (root: string): Map<string, DiskTraffic> =>
  parseDiskTraffic(readText(`${root}/proc/diskstats`));

/** Parses /proc/diskstats by `major:minor`. See the kernel's admin-guide/iostats. */
const parseDiskTraffic = (diskstats: string): Map<string, DiskTraffic> =>
  new Map(
    diskstats.split('\n').flatMap((line): [string, DiskTraffic][] => {
      const [major, minor, , , , sectorsRead, , , , sectorsWritten] = line.trim().split(/ +/);
      if (sectorsWritten === undefined) return [];
      return [
        [
          `${major}:${minor}`,
          { read: Number(sectorsRead) * sectorBytes, written: Number(sectorsWritten) * sectorBytes },
        ],
      ];
    }),
  );
