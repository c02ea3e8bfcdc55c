import { readdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import type { CountersReading } from '../readings.ts';
import { parseCpuSeconds } from './cpu.ts';
import { readKernelFile, readOrNull } from './kernel-file.ts';
import { parseMemory } from './system.ts';

const loopback = 'lo';

/** Reads `HostReadings.counters`. */
export const readCounters = (root: string): CountersReading => {
  const proc = `${root}/proc`;
  const stat = readText(`${proc}/stat`);
  const memory = parseMemory(readText(`${proc}/meminfo`));
  const network = readText(`${proc}/net/dev`);
  return {
    cpuSeconds: parseCpuSeconds(stat),
    load: loadavg()[0] ?? 0,
    memory: Number.isNaN(memory.total) ? null : memory,
    network: network === '' ? null : sumUp(parseNetwork(network), listVirtual(root)),
  };
};

const readText = (path: string): string => readKernelFile(path)?.toString('latin1') ?? '';

interface InterfaceBytes {
  name: string;
  received: number;
  sent: number;
}

/** Bytes of each interface from the content of /proc/net/dev. */
const parseNetwork = (dev: string): InterfaceBytes[] =>
  Array.from(dev.matchAll(/^ *([^\s:]+):(.*)$/gm), ([, name = '', columns = '']) => {
    const values = columns.trim().split(/ +/).map(Number);
    return { name, received: values[0] ?? 0, sent: values[8] ?? 0 };
  });

/** The interfaces that belong to no device: loopback, and those whose bytes pass another one too, such as bridges. */
const listVirtual = (root: string): Set<string> =>
  new Set(readOrNull(() => readdirSync(`${root}/sys/devices/virtual/net`)) ?? []);

/** The bytes of real interfaces; where there are none, as in a container, of all but loopback. */
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
