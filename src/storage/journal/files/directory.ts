import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Sync } from './sync.ts';

/**
 * Creates the directory and its missing parents, for their owner only, each synced into its own parent.
 * mkdir's own `recursive` retries forever on a file system without mkdir (/proc).
 */
export const createDirectory = async (path: string, sync: Sync): Promise<void> => {
  const directory = resolve(path);
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // An earlier process may have been killed before this sync. We may not be allowed to read the parent.
    if (code === 'EEXIST') return sync.directory(dirname(directory)).catch(() => undefined);
    if (code !== 'ENOENT' || dirname(directory) === directory) throw error;
    await createDirectory(dirname(directory), sync);
    await mkdir(directory, { mode: 0o700 });
  }
  await sync.directory(dirname(directory));
};
