import { runChild } from '../execution/child.ts';
import { toFailure } from '../execution/child-output.ts';
import { createLineReader } from '../execution/lines.ts';
import type { Runner } from '../execution/runner.ts';
import { createAnswer } from './power-shell/answer.ts';
import { createEnvironment } from './power-shell/environment.ts';
import { toRequest } from './power-shell/request.ts';
import { script } from './power-shell/script.ts';

/** An object whose JSON is longer is left out of the answer, which then says that it is truncated. */
const maxLineBytes = 1024 * 1024;

const args = ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', script];

/** Windows has no process groups; this program ends a process with those that it started. */
const taskkill = 'C:\\Windows\\System32\\taskkill.exe';

/**
 * Carries out commands with the cmdlets of the PowerShell at the given absolute path, a process for each. The
 * command is data on its standard input; its arguments are the same every time.
 */
export const createPowerShellRunner = (
  program: string,
  platform: NodeJS.Platform = process.platform,
): Runner => {
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
        onOutput: createLineReader(answer.add, maxLineBytes),
        signal,
        ...(platform === 'win32' && { treeEnder: taskkill }),
      });
      const output = answer.toOutput();
      if (output) return output;
      throw toFailure(program, stderr);
    },
  };
};
