import { homedir } from 'node:os';
import { runChild } from '../../../host/child.ts';
import { toCommandFailure } from '../child-output.ts';
import type { Runner } from '../runner.ts';
import { createAnswer } from './answer.ts';
import { toShellRequest } from './request.ts';
import { script } from './script.ts';

const args = ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', script];

/** Program that ends a process and its children. Needed because Windows has no process groups. */
const taskkill = 'C:\\Windows\\System32\\taskkill.exe';

/**
 * Creates the runner that uses the cmdlets of the PowerShell at an absolute path. Each command runs in a separate
 * process. The arguments never change, because the command is passed as data on standard input.
 */
export const createPowerShellRunner = (program: string, platform: NodeJS.Platform = process.platform): Runner => {
  const environment = createEnvironment(platform);
  return {
    name: 'powershell',
    run: async (command, signal) => {
      const answer = createAnswer(program, command);
      const { stderr } = await runChild({
        program,
        args,
        environment,
        input: toShellRequest(command),
        onOutput: answer.onOutput,
        signal,
        ...(platform === 'win32' && { treeEnder: taskkill }),
      });
      const output = answer.toOutput();
      if (output) return output;
      throw toCommandFailure(program, stderr);
    },
  };
};

/**
 * Returns the environment for PowerShell. Leaves out the server's variables. Disables telemetry, update checks, colours
 * and diagnostic files. On Windows, Node adds the variables that every program needs, such as SystemRoot. On other
 * systems, PowerShell needs a PATH to start, and creates a new temporary folder each time if HOME is missing.
 */
export const createEnvironment = (platform: NodeJS.Platform): Record<string, string> => ({
  POWERSHELL_TELEMETRY_OPTOUT: '1',
  POWERSHELL_UPDATECHECK: 'Off',
  DOTNET_EnableDiagnostics: '0',
  NO_COLOR: '1',
  PSModuleAnalysisCachePath: platform === 'win32' ? 'nul' : '/dev/null',
  ...(platform !== 'win32' && { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', HOME: homedir() }),
});
