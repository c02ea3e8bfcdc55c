import type { Row } from '../../../execution/runner.ts';
import { createFilter } from '../../../language/filter.ts';
import { type CimClassName, type CimInstance, cimClasses } from '../../../policy/cim-classes.ts';
import type { CommandParameters } from '../../../policy/policy.ts';
import { readComputerSystem } from './computer-system.ts';
import { readLogicalDisks } from './logical-disk.ts';
import { readOperatingSystem } from './operating-system.ts';
import { readProcesses } from './process.ts';
import { readProcessors } from './processor.ts';
import { readServices } from './service.ts';
import type { CimSources } from './sources.ts';

const readers: { [C in CimClassName]: (sources: CimSources) => Promise<CimInstance<C>[]> } = {
  Win32_OperatingSystem: readOperatingSystem,
  Win32_ComputerSystem: readComputerSystem,
  Win32_Processor: readProcessors,
  Win32_LogicalDisk: readLogicalDisks,
  Win32_Process: readProcesses,
  Win32_Service: readServices,
};

/** Get-CimInstance: the instances that meet the filter, with the properties asked for, in the class's order. */
export const getCimInstance = async (
  sources: CimSources,
  { ClassName, Property, Filter = [], KeyOnly }: CommandParameters<'Get-CimInstance'>,
): Promise<Row[]> => {
  const instances: Row[] = await readers[ClassName](sources);
  const { keys, properties } = cimClasses[ClassName];
  const wanted = KeyOnly ? keys : properties.filter((name) => Property?.includes(name) ?? true);
  return instances
    .filter(createFilter(Filter))
    .map((instance) => Object.fromEntries(wanted.map((name) => [name, instance[name]])));
};
