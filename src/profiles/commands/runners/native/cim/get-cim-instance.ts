import type { HostReadings } from '../../../../../host/readings.ts';
import type { Row } from '../../../execution/runner.ts';
import { createFilter } from '../../../language/filter.ts';
import { type CimClassName, type CimInstance, chooseProperties } from '../../../policy/cim-classes.ts';
import type { CommandParameters } from '../../../policy/policy.ts';
import { toServiceInstance } from '../get-service.ts';
import type { Unit } from '../units.ts';
import { readComputerSystem, readLogicalDisks, readOperatingSystem, readProcesses, readProcessors } from './machine.ts';

interface CimSources {
  host: HostReadings;
  clock: () => Date;
  readUnits: () => Promise<Unit[]>;
}

const readers: { [C in CimClassName]: (sources: CimSources) => Promise<CimInstance<C>[]> } = {
  Win32_OperatingSystem: ({ host, clock }) => readOperatingSystem(host, clock()),
  Win32_ComputerSystem: ({ host }) => readComputerSystem(host),
  Win32_Processor: ({ host }) => readProcessors(host),
  Win32_LogicalDisk: ({ host }) => readLogicalDisks(host),
  Win32_Process: ({ host }) => readProcesses(host),
  Win32_Service: async ({ readUnits }) => (await readUnits()).map(toServiceInstance),
};

/** Get-CimInstance: the instances that match the filter, with the chosen properties in the order of the class. */
export const getCimInstance = async (
  sources: CimSources,
  parameters: CommandParameters<'Get-CimInstance'>,
): Promise<Row[]> => {
  const instances: Row[] = await readers[parameters.ClassName](sources);
  const properties = chooseProperties(parameters);
  return instances
    .filter(createFilter(parameters.Filter ?? []))
    .map((instance) => Object.fromEntries(properties.map((name) => [name, instance[name]])));
};
