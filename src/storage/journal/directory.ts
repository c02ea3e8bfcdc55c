import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Sync } from './sync.ts';

/** Creates the directory, for its owner alone, with those above it that are missing. */
export const createDirectory = async (path: string, sync: Sync): Promise<void> => {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first !== undefined) {
    await syncParents(resolve(path), dirname(resolve(first)), sync);
  }
};

const syncParents = async (path: string, last: string, sync: Sync): Promise<void> => {
  for (let parent = path; parent !== last; ) {
    parent = dirname(parent);
    await sync.directory(parent);
  }
};
