import { homedir } from 'node:os';
import { basename } from 'node:path';
import { collectRows, maxRows, runChild, toFailure } from '../execution/child.ts';
import { CommandFailure, type Row, type Runner } from '../execution/runner.ts';
import type { ParsedCommand } from '../policy/policy.ts';
import { createEventFilter } from './native/get-event-log.ts';
import { isCmdlet, type ReadObject, rowMakers } from './power-shell/objects.ts';
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

interface Message {
  command?: unknown;
  row?: ReadObject;
  error?: unknown;
  end?: unknown;
}

/**
 * Collects the script's output: a line of JSON for the cmdlet that it runs, for each object, and for the end.
 * `onOutput` throws a CommandFailure for PowerShell's own errors, and for output that is not from the script;
 * `toOutput` returns undefined if the end is missing.
 */
export const createAnswer = (program: string, command: ParsedCommand) => {
  // Get-WinEvent, which replaces a missing Get-EventLog, filters by some of the parameters only.
  const isWanted = command.name === 'Get-EventLog' ? createEventFilter(command.parameters) : () => true;
  let makeRow = rowMakers[command.name];
  let hasEnded = false;
  const toRow = (line: string): Row | undefined => {
    const { command: cmdlet, row, error, end } = parseMessage(program, line);
    if (error !== undefined) throw new CommandFailure(String(error));
    if (end) hasEnded = true;
    else if (isCmdlet(cmdlet)) makeRow = rowMakers[cmdlet];
    else if (row) return [makeRow(row)].find(isWanted);
    else throw toUnexpectedOutput(program);
    return undefined;
  };
  const most = command.name === 'Get-EventLog' ? command.parameters.Newest : maxRows + 1;
  const rows = collectRows(most, toRow);
  return { onOutput: rows.onOutput, toOutput: () => (hasEnded || rows.isFull() ? rows.toOutput() : undefined) };
};

const parseMessage = (program: string, line: string): Message => {
  try {
    return Object(JSON.parse(line));
  } catch {
    throw toUnexpectedOutput(program);
  }
};

const toUnexpectedOutput = (program: string): CommandFailure =>
  new CommandFailure(`${basename(program)} wrote unexpected output`);
