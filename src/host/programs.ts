import { access, constants, readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Returns the first absolute path that is executable. Null if there is none. */
export const findProgram = async (paths: readonly string[]): Promise<string | null> => {
  for (const path of paths) {
    if (await isAccessible(path, constants.X_OK)) return path;
  }
  return null;
};

/** True if the path exists and allows the access in `mode`. */
export const isAccessible = (path: string, mode = constants.F_OK): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );

/** Absolute paths of systemd's programs. PATH is never used. */
export const systemPaths = {
  systemctl: ['/usr/bin/systemctl', '/bin/systemctl'],
  journalctl: ['/usr/bin/journalctl', '/bin/journalctl'],
  /** Path that exists if systemd is the running init system. See sd_booted(3). */
  bootMark: '/run/systemd/system',
};

export type SystemPaths = typeof systemPaths;

/** Places where installers put PowerShell, in order of preference. */
const installedAt: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  win32: [
    'C:\\Program Files\\PowerShell\\7\\pwsh.exe',
    'C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe',
  ],
  darwin: ['/usr/local/bin/pwsh', '/opt/homebrew/bin/pwsh', '/usr/local/microsoft/powershell/7/pwsh'],
  linux: [
    '/usr/bin/pwsh',
    '/usr/local/bin/pwsh',
    '/opt/microsoft/powershell/7/pwsh',
    '/snap/powershell/current/opt/powershell/pwsh',
  ],
};

/** Entries in PowerShell's list of dependencies that are parts of PowerShell itself and have its version. */
const ownParts = /^(?:pwsh|powershell-\w+|Microsoft\.PowerShell\.ConsoleHost)\/(\d[\w.+-]*)$/i;

/** Windows PowerShell is part of Windows. Its version has not changed since Windows 10. */
const windowsPowerShell = { program: /powershell\.exe$/i, version: '5.1' };

/** Returns absolute paths at which PowerShell may be installed. The first executable path is used. */
export const listPowerShellPaths = (platform: NodeJS.Platform = process.platform): readonly string[] =>
  installedAt[platform] ?? [];

/**
 * Reads the version of the first PowerShell at the paths, e.g. `7.4.6`. Null if missing or unknown. Starts no program,
 * because `pwsh.deps.json` next to the program contains the version.
 */
export const readPowerShellVersion = async (paths = listPowerShellPaths()): Promise<string | null> => {
  const path = await findProgram(paths);
  return path === null ? null : readVersionAt(path);
};

const readVersionAt = async (path: string): Promise<string | null> => {
  try {
    if (windowsPowerShell.program.test(path)) return windowsPowerShell.version;
    const folder = dirname(await realpath(path));
    const { libraries } = JSON.parse(await readFile(join(folder, 'pwsh.deps.json'), 'utf8'));
    const versions = Object.keys(libraries).map((library) => ownParts.exec(library)?.[1]);
    return versions.find((version) => version !== undefined) ?? null;
  } catch {
    return null;
  }
};
