import { readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const groupWrites = 0o020;
const groupEnters = 0o010;
const othersWrite = 0o002;
const othersRead = 0o004;
const othersEnter = 0o001;
const sticky = 0o1000;

/** Files named in the settings that only the server's account should be able to read. */
export interface PrivateFiles {
  dataDir: string;
  /** Paths of the files, with their names in messages. */
  files: readonly { name: string; path: string }[];
}

interface ExposedFiles {
  /** Reasons not to start, because other accounts could plant state or secrets. */
  problems: string[];
  /** Files that other accounts can read. */
  warnings: string[];
}

/**
 * Returns the reason for refusing a file that other accounts can write. `name` is the name of the file in the message.
 */
export const findWriteProblem = (path: string, name = 'the config file'): string | undefined => {
  const status = readStatus(path);
  if (!status?.isFile() || !isWritableByOthers(status)) return undefined;
  return `other accounts can write to ${name} ${path}: run chmod go-w on the file`;
};

/** Returns warnings about a config file that other accounts can read or replace. */
export const listFileWarnings = (path: string, hasSecrets: boolean): string[] => {
  const status = readStatus(path);
  if (!status?.isFile()) return [];
  const open = findOpenFolder(path);
  return [
    ...(hasSecrets && isReadable(status)
      ? [`other accounts can read the secrets in the config file ${path}: run chmod o-r on the file`]
      : []),
    ...(open === undefined
      ? []
      : [`other accounts can replace the config file ${path}: run chmod o-w on the folder ${open}`]),
  ];
};

/** Finds existing files that other accounts can read or write. New files get mode 0600, and the data folder 0700. */
export const findExposedFiles = ({ dataDir, files }: PrivateFiles): ExposedFiles => {
  const found: ExposedFiles = { problems: [], warnings: [] };
  for (const { name, path } of files) {
    const problem = findWriteProblem(path, name);
    if (problem !== undefined) found.problems.push(problem);
    const status = readStatus(path);
    if (status?.isFile() && isReadable(status)) {
      found.warnings.push(`other accounts can read ${name} ${path}: run chmod o-r on the file`);
    }
  }
  addExposedFolder(resolve(dataDir), found);
  return found;
};

const addExposedFolder = (folder: string, { problems, warnings }: ExposedFiles): void => {
  const status = readStatus(folder);
  if (!status?.isDirectory()) return;
  const { mode } = status;
  if ((mode & othersWrite) !== 0) {
    problems.push(`other accounts can write to the data folder ${folder}: run chmod o-w on the folder`);
  } else if (isWritableByOthers(status)) {
    // Volumes of containers often belong to a separate group.
    warnings.push(
      `a group can write to the data folder ${folder}: run chmod g-w on the folder, unless the group is meant to change the data`,
    );
  }
  if (isReadable(status))
    warnings.push(`other accounts can read the data folder ${folder}: run chmod o-rx on the folder`);
  if ((mode & (othersEnter | groupEnters)) !== 0) {
    const entries = listFiles(folder);
    const writable = entries.filter((entry) => isWritableByOthers(entry.status));
    const readable = entries.filter((entry) => (mode & othersEnter) !== 0 && isReadable(entry.status));
    if (writable.length > 0) problems.push(describeFiles('write to', writable, 'go-w'));
    if (readable.length > 0) warnings.push(describeFiles('read', readable, 'o-r'));
  }
  const open = findOpenFolder(folder);
  if (open !== undefined) {
    warnings.push(`other accounts can replace the data folder ${folder}: run chmod o-w on the folder ${open}`);
  }
};

const describeFiles = (verb: string, [first, ...others]: readonly { path: string }[], change: string): string => {
  const [more, them] =
    others.length === 0 ? ['', 'the file'] : [` and ${others.length} more files in this folder`, 'these files'];
  return `other accounts can ${verb} ${first?.path}${more}: run chmod ${change} on ${them}`;
};

/** Lists the files in a folder. Empty if the folder is unreadable, because its first use reports that problem. */
const listFiles = (folder: string): { path: string; status: Stats }[] => {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .flatMap(({ name }) => {
        const path = join(folder, name);
        const status = readStatus(path);
        return status ? [{ path, status }] : [];
      });
  } catch {
    return [];
  }
};

/**
 * Reads the mode and owner of a file. Undefined for a missing or unreachable file, and on Windows, because Windows has
 * no modes.
 */
const readStatus = (path: string): Stats | undefined => {
  if (process.platform === 'win32') return undefined;
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

/**
 * True if other accounts can write the file. A group whose id equals the owner's is assumed to be the owner's private
 * group.
 */
const isWritableByOthers = ({ mode, gid, uid }: Stats): boolean =>
  (mode & (othersWrite | (gid === uid ? 0 : groupWrites))) !== 0;

const isReadable = ({ mode }: Stats): boolean => (mode & othersRead) !== 0;

/** Returns the first folder on a path in which every account can replace entries. */
const findOpenFolder = (path: string): string | undefined =>
  [path, realpathSync(path)].flatMap((name) => listParents(resolve(name))).find(isOpenFolder);

const listParents = (path: string): string[] => {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...listParents(parent)];
};

const isOpenFolder = (folder: string): boolean => {
  const { mode } = statSync(folder);
  return (mode & othersWrite) !== 0 && (mode & sticky) === 0;
};
