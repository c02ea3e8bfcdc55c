import { readdirSync, type Stats, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findOpenFolder, findWriteProblem, isWritable, othersRead, othersWrite } from './exposure.ts';

/** Files that the settings name, and that only the server's account should read. */
export interface PrivateFiles {
  dataDir: string;
  /** Paths by what messages call them. */
  files: readonly { name: string; path: string }[];
}

interface Exposure {
  /** Others could plant state or secrets: the server does not start. */
  problems: string[];
  /** Others can read them. */
  warnings: string[];
}

const othersEnter = 0o001;
const groupEnters = 0o010;

/** What other accounts can do with files that exist already; new ones are created with mode 0600, and the data folder with 0700. */
export const findExposedFiles = ({ dataDir, files }: PrivateFiles): Exposure => {
  if (process.platform === 'win32') return { problems: [], warnings: [] };
  const found = [...files.map(({ name, path }) => findExposedFile(name, path)), findExposedFolder(resolve(dataDir))];
  return {
    problems: found.flatMap(({ problems }) => problems),
    warnings: found.flatMap(({ warnings }) => warnings),
  };
};

const findExposedFile = (name: string, path: string): Exposure => {
  const status = readStatus(path);
  if (!status?.isFile()) return { problems: [], warnings: [] };
  const problem = findWriteProblem(path, name);
  const isReadable = (status.mode & othersRead) !== 0;
  return {
    problems: problem === undefined ? [] : [problem],
    warnings: isReadable ? [`other accounts can read ${name} ${path}: run chmod o-r on it`] : [],
  };
};

const findExposedFolder = (folder: string): Exposure => {
  const status = readStatus(folder);
  if (!status?.isDirectory()) return { problems: [], warnings: [] };
  const problems: string[] = [];
  const warnings: string[] = [];
  const { mode } = status;
  if ((mode & othersWrite) !== 0)
    problems.push(`other accounts can write the data folder ${folder}: run chmod o-w on it`);
  // A volume of a container often belongs to a group of its own.
  else if (isWritable(status)) {
    warnings.push(
      `a group can write the data folder ${folder}: run chmod g-w on it, unless its members may change the data`,
    );
  }
  if ((mode & othersRead) !== 0)
    warnings.push(`other accounts can read the data folder ${folder}: run chmod o-rx on it`);
  if ((mode & (othersEnter | groupEnters)) !== 0) {
    const files = listFiles(folder);
    const writable = files.filter(({ status: one }) => isWritable(one));
    const readable = files.filter(({ status: one }) => (mode & othersEnter) !== 0 && (one.mode & othersRead) !== 0);
    if (writable.length > 0) problems.push(describeFiles('write', folder, writable, 'go-w'));
    if (readable.length > 0) warnings.push(describeFiles('read', folder, readable, 'o-r'));
  }
  const open = findOpenFolder(folder);
  if (open !== undefined) {
    warnings.push(`other accounts can replace the data folder ${folder}: run chmod o-w on the folder ${open}`);
  }
  return { problems, warnings };
};

const describeFiles = (verb: string, folder: string, files: readonly { name: string }[], change: string): string => {
  const [first] = files;
  const others = files.length === 1 ? '' : ` and ${files.length - 1} more in this folder`;
  return `other accounts can ${verb} ${join(folder, first?.name ?? '')}${others}: run chmod ${change} on ${files.length === 1 ? 'it' : 'them'}`;
};

/** The files in a folder; none if it cannot be read, which its first use reports. */
const listFiles = (folder: string): { name: string; status: Stats }[] => {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .flatMap(({ name }) => {
        const status = readStatus(join(folder, name));
        return status ? [{ name, status }] : [];
      });
  } catch {
    return [];
  }
};

const readStatus = (path: string): Stats | undefined => {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};
