import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

/** Entries checked on startup; the rest of a larger folder is checked on request. */
const mostEntries = 10_000;

/**
 * Tells whether a path may be served: a regular file or folder that is inside `root` after following links. Reading
 * anything else, such as a named pipe, could hang.
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

/** The first link below `root` that leads outside it; undefined if there is none. Dotfiles are never served. */
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

/** The target of a link; undefined if it does not exist. */
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
    // A folder that cannot be listed can hardly be served.
    return [];
  }
};
