import { homedir } from 'node:os';

/** No telemetry, no look for updates, no colours, no files of its own beyond what it cannot do without. */
const quiet = {
  POWERSHELL_TELEMETRY_OPTOUT: '1',
  POWERSHELL_UPDATECHECK: 'Off',
  DOTNET_EnableDiagnostics: '0',
  NO_COLOR: '1',
};

/**
 * The environment that PowerShell gets: nothing of the server's own. On Windows, Node adds the few variables
 * without which no program starts, such as SystemRoot. Elsewhere PowerShell stops without a PATH, and makes a
 * temporary folder each time without a HOME.
 */
export const createEnvironment = (platform: NodeJS.Platform): Record<string, string> =>
  platform === 'win32'
    ? { ...quiet, PSModuleAnalysisCachePath: 'nul' }
    : {
        ...quiet,
        PSModuleAnalysisCachePath: '/dev/null',
        PATH: '/usr/bin:/bin',
        LC_ALL: 'C.UTF-8',
        HOME: homedir(),
      };
