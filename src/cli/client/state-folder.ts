import { mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

const othersWrite = 0o022;

/** A folder of `$XDG_STATE_HOME/signalbox`, where commands keep small files; undefined if there is no place for it. */
export const findStateFolder = (name: string): string | undefined => {
  const { XDG_STATE_HOME: given = '' } = process.env;
  const base = isAbsolute(given) ? given : join(readHome(), '.local', 'state');
  return isAbsolute(base) ? join(base, 'signalbox', name) : undefined;
};

/** Creates the folder, for its owner only. Throws an Error, whose message is a clause, if it cannot be used. */
export const createStateFolder = (name: string): string => {
  const folder = findStateFolder(name);
  if (folder === undefined) throw new Error('there is no home directory; set XDG_STATE_HOME to a folder');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  assertOwn(folder);
  return folder;
};

/** Other accounts must not plant alerts there. */
const assertOwn = (folder: string): void => {
  const { uid, mode } = statSync(folder);
  const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & othersWrite) === 0);
  if (!isOwn) throw new Error(`other accounts can write ${folder}: remove it`);
};

/** Empty for a user without one. */
const readHome = (): string => {
  try {
    return homedir();
  } catch {
    return '';
  }
};
