import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createDirectory, createSync } from './journal/files.ts';

/** A small file that is replaced as a whole, so a crash leaves the old or the new content. */
export interface ReplacedFile {
  /** The bytes of the last write; undefined if there is none or it cannot be read. Creates the directory; call it first. */
  read(): Promise<Buffer | undefined>;
  /** Rejects if the file cannot be written; a directory that somebody has deleted is not created again. */
  write(bytes: Uint8Array): Promise<void>;
}

/** The one with this name in a directory. */
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

/** Ends the name of a file that is not complete. */
export const unfinishedEnding = '.new';

/** Replaces a file by a new one that `fill` writes. A crash leaves the old or the new one; if it rejects, the old one is still there. */
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
    // Others may need the space.
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw error;
  }
};

/** Replaces a file that only its owner can read; a crash leaves the old or the new content. */
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
