import type { Systeminformation } from 'systeminformation';
import type { ProcessorReading } from '../readings.ts';
import type { CpuShares } from '../sampling/usage.ts';

type Cpu = Pick<
  Systeminformation.CpuData,
  'manufacturer' | 'brand' | 'speed' | 'speedMax' | 'cores' | 'physicalCores' | 'processors'
> & { cache: Pick<Systeminformation.CpuCacheData, 'l2' | 'l3'> };

/** systeminformation describes all packages together, so each gets an equal part of the cores and caches. */
export const toProcessorReadings = (cpu: Cpu, shares: CpuShares): ProcessorReading[] => {
  const packages = Math.max(1, cpu.processors);
  const logical = cpu.cores / packages;
  return Array.from({ length: packages }, (_, index) => ({
    id: `CPU${index}`,
    name: `${cpu.manufacturer} ${cpu.brand}`.trim() || null,
    manufacturer: cpu.manufacturer || null,
    maxMHz: toMHz(cpu.speedMax),
    currentMHz: toMHz(cpu.speed),
    cores: Math.round(cpu.physicalCores / packages) || null,
    logicalProcessors: Math.round(logical),
    loadPercent: toLoad(shares, index * logical, (index + 1) * logical),
    l2CacheKB: toPart(cpu.cache.l2, packages),
    l3CacheKB: toPart(cpu.cache.l3, packages),
  }));
};

/** From GHz; 0 stands for "unknown". */
const toMHz = (gigahertz: number): number | null => Math.round(gigahertz * 1000) || null;

/** From bytes; 0 stands for "unknown". */
const toPart = (bytes: number, packages: number): number | null => Math.round(bytes / packages / 1024) || null;

/** Mean of the logical processors in a range, in percent. */
const toLoad = (shares: CpuShares, from: number, to: number): number => {
  const all = Array.from(shares).filter(([name]) => name !== 'cpu');
  const range = all.slice(Math.round(from), Math.round(to)).map(([, share]) => share);
  return (100 * range.reduce((sum, share) => sum + share, 0)) / Math.max(1, range.length);
};
