import { type FileHandle, open } from 'node:fs/promises';

/** Syncs bytes and names to disk; does nothing if syncing is off. */
export interface Sync {
  /** A file's bytes and the size needed to find them again. */
  data(handle: FileHandle): Promise<void>;
  /** A directory's names, after one was created, renamed or removed. */
  directory(path: string): Promise<void>;
}

/** Windows has no way to sync a directory, and needs none: NTFS journals its names. */
export const createSync = (enabled: boolean, platform: NodeJS.Platform = process.platform): Sync => ({
  data: enabled ? (handle) => handle.datasync() : nothing,
  directory: enabled && platform !== 'win32' ? syncDirectory : nothing,
});

/** Reports how long each successful sync of bytes took, in seconds. */
export const measureSync = (sync: Sync, onSync: (seconds: number) => void): Sync => ({
  ...sync,
  data: async (handle) => {
    const startedAt = performance.now();
    await sync.data(handle);
    onSync((performance.now() - startedAt) / 1000);
  },
});

const nothing = async (): Promise<void> => undefined;

const syncDirectory = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
