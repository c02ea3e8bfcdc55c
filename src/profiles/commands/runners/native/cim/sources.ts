import type { HostReadings } from '../../../../../host/readings.ts';
import type { Unit } from '../unit-output.ts';

/** Where the instances of the classes come from. */
export interface CimSources {
  host: HostReadings;
  clock: () => Date;
  readUnits: () => Promise<Unit[]>;
}
