import { type SystemPaths, systemPaths } from '../../../host/programs.ts';
import type { HostReadings } from '../../../host/readings.ts';
import { type Runner, toOutput } from '../runner.ts';
import { getCimInstance } from './get-cim-instance.ts';
import { getEventLog } from './get-event-log.ts';
import { createGetProcess } from './get-process.ts';
import { getService, readUnits } from './get-service.ts';

interface NativeParts {
  host: HostReadings;
  clock: () => Date;
  paths?: SystemPaths;
}

/** Creates the Linux runner. It uses host readings, systemd and the journal. */
export const createNativeRunner = ({ host, clock, paths = systemPaths }: NativeParts): Runner => {
  const getProcess = createGetProcess(host);
  return {
    name: 'native',
    run: async (command, signal) => {
      switch (command.name) {
        case 'Get-Process':
          return orAborted(getProcess(command.parameters), signal);
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

/** Rejects when the signal is aborted. Host readings cannot be cancelled, and reading a network disk may never end. */
const orAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
