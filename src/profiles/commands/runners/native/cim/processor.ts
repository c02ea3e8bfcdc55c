import type { CimInstance } from '../../../policy/cim-classes.ts';
import { addressWidthOf, numberOf } from './architecture.ts';
import type { CimSources } from './sources.ts';

/** One for each processor package. Clock speeds are in MHz, caches in KB. */
export const readProcessors = async ({ host }: CimSources): Promise<CimInstance<'Win32_Processor'>[]> => {
  const [{ architecture }, processors] = await Promise.all([host.system(), host.processors()]);
  return processors.map((processor) => ({
    DeviceID: processor.id,
    Name: processor.name,
    Manufacturer: processor.manufacturer,
    MaxClockSpeed: processor.maxMHz,
    CurrentClockSpeed: processor.currentMHz,
    NumberOfCores: processor.cores,
    NumberOfLogicalProcessors: processor.logicalProcessors,
    LoadPercentage: processor.loadPercent === null ? null : Math.round(processor.loadPercent),
    L2CacheSize: processor.l2CacheKB,
    L3CacheSize: processor.l3CacheKB,
    AddressWidth: addressWidthOf(architecture),
    Architecture: numberOf(architecture),
  }));
};
