import type { CimInstance } from '../../../policy/cim-classes.ts';
import { systemTypeOf } from './architecture.ts';
import type { CimSources } from './sources.ts';

/** Memory is in bytes; processors are packages. */
export const readComputerSystem = async ({
  host,
}: CimSources): Promise<CimInstance<'Win32_ComputerSystem'>[]> => {
  const [system, memory, processors] = await Promise.all([host.system(), host.memory(), host.processors()]);
  return [
    {
      Name: system.hostname,
      DNSHostName: system.hostname,
      Domain: system.domain,
      Manufacturer: system.manufacturer,
      Model: system.model,
      SystemType: systemTypeOf(system.architecture),
      TotalPhysicalMemory: memory.total,
      NumberOfProcessors: processors.length,
      NumberOfLogicalProcessors: processors.reduce((sum, each) => sum + each.logicalProcessors, 0),
      HypervisorPresent: system.hypervisorPresent,
    },
  ];
};
