import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Version = 15 | 18;

/** Account that runs the servers. PostgreSQL refuses root, so root runs the servers as nobody. */
export const owner = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

export interface Installation {
  /** Returns the absolute path of `postgres` or `initdb`. */
  program(name: string): string;
  environment: NodeJS.ProcessEnv;
}

const toNative = (version: Version): string => {
  try {
    return fileURLToPath(new URL('../native', import.meta.resolve(`postgres-${version}`)));
  } catch {
    // The package is optional.
    return '';
  }
};

/**
 * Returns the reason why no PostgreSQL server can run here, or false if one can. In CI on Linux x64, nothing is
 * skipped.
 */
export const toSkipPostgres = (): string | false => {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'the packages with PostgreSQL are for Linux x64';
  const isThere = existsSync(toNative(15)) && existsSync(toNative(18));
  return !isThere && process.env['CI'] !== 'true' && 'the optional packages with PostgreSQL are not installed';
};

const installations = new Map<Version, Installation>();

/** Returns the programs of this version, ready for the owner of the servers. They are prepared once per process. */
export const findInstallation = (version: Version): Installation => {
  const installation = installations.get(version) ?? prepare(version);
  installations.set(version, installation);
  return installation;
};

const prepare = (version: Version): Installation => {
  const packed = toNative(version);
  const native = isReachable(packed) ? packed : copyNative(packed);
  return {
    program: (name) => join(native, 'bin', name),
    environment: {
      PATH: process.env['PATH'],
      LD_LIBRARY_PATH: `${linkLibraries(native)}:${join(native, 'lib')}`,
      TZ: 'UTC',
    },
  };
};

/** True if any user can open files in the folder. Root's folders, for example, may not allow that. */
const isReachable = (folder: string): boolean =>
  owner.uid === undefined ||
  folder === '/' ||
  ((statSync(folder).mode & 0o005) === 0o005 && isReachable(dirname(folder)));

const copyNative = (native: string): string => {
  const copy = join(createSharedFolder(), 'native');
  cpSync(native, copy, { recursive: true });
  return copy;
};

/**
 * Links the short names of the libraries to the files, as the package's install script would. npm may not run that
 * script.
 */
const linkLibraries = (native: string): string => {
  const folder = createSharedFolder();
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(native, 'pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) symlinkSync(join(dirname(native), source), join(folder, basename(target)));
  return folder;
};

/** Creates a folder that everyone may read. The folder is removed when this process exits. */
export const createSharedFolder = (): string => {
  const folder = createOwnedFolder();
  chmodSync(folder, 0o755);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Creates a folder owned by the user who runs the servers. */
export const createOwnedFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-postgres-'));
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
  return folder;
};

/** Runs a program as the owner of the servers until it exits. Throws if it fails. */
export const runAsOwner = (program: string, args: string[], environment: NodeJS.ProcessEnv, input = ''): void => {
  const { status, error, stderr, stdout } = spawnSync(program, args, { ...owner, env: environment, input, cwd: '/' });
  if (status !== 0) throw new Error(`${program} fails: ${error ?? `${stdout}${stderr}`}`);
};
