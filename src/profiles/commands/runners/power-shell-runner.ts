import { homedir } from 'node:os';
import { runChild } from '../execution/child.ts';
import { toFailure } from '../execution/child-output.ts';
import type { Runner } from '../execution/runner.ts';
import { createAnswer } from './power-shell/answer.ts';
import { toRequest } from './power-shell/request.ts';
import { script } from './power-shell/script.ts';

const args = ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', script];

/** Windows has no process groups; this program ends a process and its children. */
const taskkill = 'C:\\Windows\\System32\\taskkill.exe';

/**
 * Runs commands with the cmdlets of the PowerShell at the given absolute path, in one process for each. The
 * arguments are always the same; the command is data on standard input.
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
        input: toRequest(command),
        onOutput: answer.onOutput,
        signal,
        ...(platform === 'win32' && { treeEnder: taskkill }),
      });
      const output = answer.toOutput();
      if (output) return output;
      throw toFailure(program, stderr);
    },
  };
};

/**
 * PowerShell's environment: nothing of the server's own, no telemetry, update checks, colours or diagnostic files.
 * On Windows, Node adds the variables that every program needs, such as SystemRoot. Elsewhere PowerShell needs a
 * PATH to start, and without a HOME it creates a temporary folder each time.
 */
export const createEnvironment = (platform: NodeJS.Platform): Record<string, string> => ({
  POWERSHELL_TELEMETRY_OPTOUT: '1',
  POWERSHELL_UPDATECHECK: 'Off',
  DOTNET_EnableDiagnostics: '0',
  NO_COLOR: '1',
  PSModuleAnalysisCachePath: platform === 'win32' ? 'nul' : '/dev/null',
  ...(platform !== 'win32' && { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', HOME: homedir() }),
});
