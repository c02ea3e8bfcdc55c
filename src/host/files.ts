import { readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { createLikeTest } from '../lib/wildcards.ts';

/** File as read for a watch. */
interface FileReading {
  path: string;
  bytes: number;
  changedAt: Date;
}

/** Maximum number of files that a pattern may find. */
const maxFiles = 10_000;

/**
 * Finds the files at a path. Each `*` matches any text within a path segment. Skips folders. Rejects with a system
 * error if the folder before the first `*`, or the folder of a file, is unreadable.
 */
export const findFiles = async (pattern: string): Promise<FileReading[]> => {
  const absolute = resolve(pattern);
  const parts = absolute.split(sep).slice(1);
  let found = [absolute.slice(0, absolute.indexOf(sep) + 1)];
  const firstPattern = parts.findIndex((part) => part.includes('*'));
  if (firstPattern < 0) await stat(dirname(absolute));
  for (const [index, part] of parts.entries()) {
    if (!part.includes('*')) {
      found = found.map((folder) => join(folder, part));
      continue;
    }
    const test = toTest(part);
    const next: string[] = [];
    for (const folder of found) {
      const names = readdir(folder);
      for (const name of await (index === firstPattern ? names : names.catch(() => []))) {
        if (next.length < maxFiles && test(name)) next.push(join(folder, name));
      }
    }
    found = next;
  }
  const readings = await Promise.all(found.map(readOne));
  return readings.filter((one) => one !== null);
};

/** Creates the test for a path segment. As in shells, a hidden file matches only a pattern that begins with a dot. */
const toTest = (part: string) => {
  const isMatch = createLikeTest(part);
  return (name: string): boolean => isMatch(name) && (part.startsWith('.') || !name.startsWith('.'));
};

const readOne = async (path: string): Promise<FileReading | null> => {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  return found?.isFile() ? { path, bytes: found.size, changedAt: found.mtime } : null;
};
