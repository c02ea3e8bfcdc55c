import { SettingsError } from '../../../config/settings-error.ts';
import { findProgram } from '../../../host/programs.ts';
import type { HostReadings } from '../../../host/readings.ts';
import type { CommandOutput, Row, Runner } from '../execution/runner.ts';
import { getCimInstance } from './native/get-cim-instance.ts';
import { getEventLog } from './native/get-event-log.ts';
import { createGetProcess } from './native/get-process.ts';
import { getService, readUnits } from './native/get-service.ts';
import { type SystemPaths, systemPaths } from './native/programs.ts';
import { createPowerShellRunner } from './power-shell.ts';

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

interface RunnerChoice {
  commandRunner: 'auto' | Runner['name'];
  /** Absolute paths; the first PowerShell that exists is used. */
  powerShellPaths: readonly string[];
  host: HostReadings;
  clock: () => Date;
  platform?: NodeJS.Platform;
}

/** The runner for the settings. Rejects with a SettingsError if it needs PowerShell and there is none. */
export const chooseRunner = async ({
  commandRunner,
  powerShellPaths,
  host,
  clock,
  platform = process.platform,
}: RunnerChoice): Promise<Runner> => {
  const ownRunner = platform === 'win32' ? 'powershell' : 'native';
  const name = commandRunner === 'auto' ? ownRunner : commandRunner;
  if (name === 'native') return createNativeRunner({ host, clock });
  const program = await findProgram(powerShellPaths);
  if (program !== null) return createPowerShellRunner(program, platform);
  const places = powerShellPaths.join(', ') || 'any known place';
  throw new SettingsError([
    `commandRunner is ${commandRunner}, but there is no PowerShell at ${places}: ` +
      'install it, set powershellPath, or set commandRunner to native',
  ]);
};
