import { SettingsError } from '../../config/settings-error.ts';
import { findProgram } from '../../host/programs.ts';
import type { HostReadings } from '../../host/readings.ts';
import { createNativeRunner } from './native/runner.ts';
import { createPowerShellRunner } from './power-shell/runner.ts';
import type { Runner } from './runner.ts';

interface RunnerChoice {
  commandRunner: 'auto' | Runner['name'];
  /** Absolute paths of PowerShell. The first that exists is used. */
  powerShellPaths: readonly string[];
  host: HostReadings;
  clock: () => Date;
  platform?: NodeJS.Platform;
}

/**
 * Returns the runner chosen in the settings. Rejects with a SettingsError if PowerShell is required but not installed.
 */
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
  const places = powerShellPaths.join(', ') || 'any known path';
  throw new SettingsError([
    `commandRunner is ${commandRunner}, but there is no PowerShell at ${places}: ` +
      'install PowerShell, set powershellPath, or set commandRunner to native',
  ]);
};
