import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

/** Entries that the start looks at; what a larger folder holds beyond them is checked when it is asked for. */
const mostEntries = 10_000;

/**
 * Says whether a path may be served: a regular file or a folder that is, with its links followed, in `root`. Reading
 * anything else, a named pipe say, could wait for ever.
 */
export const createServableCheck = (root: string): ((path: string) => boolean) => {
  const realRoot = realpathSync(root);
  return (path) => {
    try {
      const stat = statSync(path);
      return (stat.isFile() || stat.isDirectory()) && isInside(realRoot, realpathSync(path));
    } catch {
      return false;
    }
  };
};

/** The first link below `root` that leads out of it; undefined when there is none. Dotfiles are never served. */
export const findEscapingLink = (root: string): string | undefined => {
  const realRoot = realpathSync(root);
  const folders = [root];
  let left = mostEntries;
  for (let folder = folders.pop(); folder !== undefined && left > 0; folder = folders.pop()) {
    for (const entry of listEntries(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      if (entry.isSymbolicLink() && !isInside(realRoot, follow(path) ?? realRoot)) return path;
      left -= 1;
    }
  }
  return undefined;
};

const isInside = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** Where a link leads to; undefined where nothing is there. */
const follow = (link: string): string | undefined => {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
};

const listEntries = (folder: string): Dirent[] => {
  try {
    return readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'));
  } catch {
    // What the server cannot list it can hardly serve.
    return [];
  }
};
