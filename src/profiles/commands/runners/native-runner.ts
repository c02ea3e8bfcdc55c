import type { HostReadings } from '../../../host/readings.ts';
import type { CommandOutput, Row, Runner } from '../execution/runner.ts';
import { getCimInstance } from './native/cim/get-cim-instance.ts';
import { getEventLog } from './native/get-event-log.ts';
import { createGetProcess } from './native/get-process.ts';
import { getService } from './native/get-service.ts';
import { type SystemPaths, systemPaths } from './native/programs.ts';
import { readUnits } from './native/units.ts';

interface NativeParts {
  host: HostReadings;
  clock: () => Date;
  paths?: SystemPaths;
}

/** Runs commands on Linux, from host readings, systemd and its journal. */
export const createNativeRunner = ({ host, clock, paths = systemPaths }: NativeParts): Runner => {
  const getProcess = createGetProcess(host);
  return {
    name: 'native',
    run: async (command, signal) => {
      switch (command.name) {
        case 'Get-Process':
          return toOutput(await orAborted(getProcess(command.parameters), signal));
        case 'Get-Service':
          return toOutput(getService(await readUnits(paths, signal), command.parameters));
        case 'Get-EventLog':
          return getEventLog(paths, command.parameters, signal);
        case 'Get-CimInstance': {
          const sources = { host, clock, readUnits: () => readUnits(paths, signal) };
          const rows = getCimInstance(sources, command.parameters);
          const isHostReading = command.parameters.ClassName !== 'Win32_Service';
          return toOutput(await (isHostReading ? orAborted(rows, signal) : rows));
        }
      }
    },
  };
};

const toOutput = (rows: Row[]): CommandOutput => ({ rows, truncated: false });

/** Host readings cannot be cancelled, and one of a network disk may never settle: an abort stops waiting for it. */
const orAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
