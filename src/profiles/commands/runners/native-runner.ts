import type { HostReadings } from '../../../host/readings.ts';
import type { Row, Runner } from '../execution/runner.ts';
import type { ParsedCommand } from '../policy/policy.ts';
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

/** Runs commands with what Linux provides: the host's readings, systemd and its journal. */
export const createNativeRunner = ({ host, clock, paths = systemPaths }: NativeParts): Runner => {
  const getProcess = createGetProcess(host);
  const readRows = async (
    command: Exclude<ParsedCommand, { name: 'Get-EventLog' }>,
    signal: AbortSignal,
  ): Promise<Row[]> => {
    switch (command.name) {
      case 'Get-Process':
        return orAborted(getProcess(command.parameters), signal);
      case 'Get-Service':
        return getService(await readUnits(paths, signal), command.parameters);
      case 'Get-CimInstance': {
        const sources = { host, clock, readUnits: () => readUnits(paths, signal) };
        const rows = getCimInstance(sources, command.parameters);
        return command.parameters.ClassName === 'Win32_Service' ? rows : orAborted(rows, signal);
      }
    }
  };
  return {
    name: 'native',
    run: async (command, signal) =>
      command.name === 'Get-EventLog'
        ? getEventLog(paths, command.parameters, signal)
        : { rows: await readRows(command, signal), truncated: false },
  };
};

/** Host readings cannot be cancelled: one of a network disk may never settle, so an abort stops waiting for it. */
const orAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
