import { SettingsError } from '../../../config/settings-error.ts';
import { findProgram } from '../../../host/programs.ts';
import type { HostReadings } from '../../../host/readings.ts';
import type { Runner } from '../execution/runner.ts';
import { createNativeRunner } from './native-runner.ts';
import { createPowerShellRunner } from './power-shell-runner.ts';

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
