import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Sync } from './sync.ts';

/**
 * Creates the directory, for its owner alone, with those above it that are missing, each synced into its parent.
 * Not with mkdir's own `recursive`: where a file system has no mkdir (/proc) that one tries for ever.
 */
export const createDirectory = async (path: string, sync: Sync): Promise<void> => {
  const directory = resolve(path);
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return syncEarlier(directory, sync);
    if (code !== 'ENOENT' || dirname(directory) === directory) throw error;
    await createDirectory(dirname(directory), sync);
    await mkdir(directory, { mode: 0o700 });
  }
  await sync.directory(dirname(directory));
};

/** Whoever made the directory may have been killed before its sync; the parent need not be ours, so no must. */
const syncEarlier = (directory: string, sync: Sync): Promise<void> =>
  sync.directory(dirname(directory)).catch(() => undefined);
