import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createDirectory, createSync } from './journal/files.ts';

/** Small file that is replaced as a whole, so that a crash leaves either the old or the new content. */
export interface ReplacedFile {
  /**
   * Resolves to the content. Undefined if the file is missing or unreadable. Creates the directory, so this method must
   * be called first.
   */
  read(): Promise<Buffer | undefined>;
  /** Writes the file. Rejects if that is not possible. Does not recreate a deleted directory. */
  write(bytes: Uint8Array): Promise<void>;
}

export const createReplacedFile = (directory: string, name: string): ReplacedFile => {
  const path = join(directory, name);
  return {
    read: async () => {
      await createDirectory(directory, createSync(true)).catch(() => undefined);
      return readFile(path).catch(() => undefined);
    },
    write: (bytes) => replaceBy(path, (file) => file.writeFile(bytes)),
  };
};

/** Suffix of an incomplete file. */
export const unfinishedEnding = '.new';

/** Replaces a file with a new file that `fill` writes. A crash leaves either file. A failure leaves the old file. */
export const replaceBy = async (path: string, fill: (file: FileHandle) => Promise<void>): Promise<void> => {
  const unfinished = path + unfinishedEnding;
  try {
    const file = await open(unfinished, 'w', 0o600);
    try {
      await fill(file);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    // The unfinished file would only take up space.
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw error;
  }
};

/** Replaces a file that only its owner can read. A crash leaves either the old or the new content. */
export const replaceFile = (path: string, text: string): void => {
  const unfinished = path + unfinishedEnding;
  const fd = openSync(unfinished, 'w', 0o600);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(unfinished, path);
};
