import { realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const groupWrites = 0o020;
export const othersWrite = 0o002;
export const othersRead = 0o004;
const sticky = 0o1000;

/** True if other accounts can write it. A group whose id equals the owner's is assumed to be the owner's private group. */
export const isWritable = ({ mode, gid, uid }: Stats): boolean =>
  (mode & (othersWrite | (gid === uid ? 0 : groupWrites))) !== 0;

/** Why a file is refused: other accounts can write it. `name` is what the message calls it. */
export const findWriteProblem = (path: string, name = 'the config file'): string | undefined => {
  const file = readMode(path);
  if (!file || !isWritable(file)) return undefined;
  return `other accounts can write ${name} ${path}: run chmod go-w on it`;
};

/** The first of a path's folders in which every account can replace what it names. */
export const findOpenFolder = (path: string): string | undefined =>
  [path, realpathSync(path)].flatMap((name) => listFolders(dirname(resolve(name)))).find(isOpenFolder);

/** Warnings about a config file that other accounts can read or replace. */
export const listExposures = (path: string, hasSecrets: boolean): string[] => {
  const file = readMode(path);
  if (!file) return [];
  const open = findOpenFolder(path);
  return [
    ...(hasSecrets && (file.mode & othersRead) !== 0
      ? [`other accounts can read the secrets in the config file ${path}: run chmod o-r on it`]
      : []),
    ...(open === undefined
      ? []
      : [`other accounts can replace the config file ${path}: run chmod o-w on the folder ${open}`]),
  ];
};

/** The mode of a plain file; undefined for pipes and devices, and on Windows, which has no modes. */
const readMode = (path: string) => {
  if (process.platform === 'win32') return undefined;
  const status = statSync(path);
  return status.isFile() ? status : undefined;
};

/** The folder and all its parents. */
const listFolders = (folder: string): string[] => {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...listFolders(parent)];
};

const isOpenFolder = (folder: string): boolean => {
  const { mode } = statSync(folder);
  return (mode & othersWrite) !== 0 && (mode & sticky) === 0;
};
