import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MiB } from '../lib/units.ts';
import { passIfGone } from './journal/errors.ts';
import { createDirectory, createFreeSpaceCheck, createSync } from './journal/files.ts';
import { replaceBy, unfinishedEnding } from './replaced-file.ts';

/** Bytes of disk space reserved for more important data. */
const minFreeBytes = 32 * MiB;

/** Folder of small files that are each written once. */
export interface Folder {
  /**
   * Lists the names and sizes of the files, with the times at which they were written. Creates the folder. Rejects if
   * the folder cannot be used.
   */
  list(): Promise<{ name: string; at: Date; bytes: number }[]>;
  /** Resolves to the text of a file. Undefined if the file is missing. */
  read(name: string): Promise<string | undefined>;
  /**
   * Writes a file. Resolves when the whole file is on disk. After a rejection, the file does not exist. `at` is the
   * modification time to set.
   */
  write(name: string, text: string, at?: Date): Promise<void>;
  delete(name: string): Promise<void>;
}

export const createFolderOf = (directory: string): Folder => {
  const sync = createSync(true);
  const assertFreeSpace = createFreeSpaceCheck(directory, minFreeBytes);
  return {
    list: async () => {
      await createDirectory(directory, sync);
      const names = await readdir(directory);
      for (const name of names) if (name.endsWith(unfinishedEnding)) await rm(join(directory, name), { force: true });
      const found = names.map(async (name) => ({ name, found: await stat(join(directory, name)).catch(passIfGone) }));
      return (await Promise.all(found)).flatMap(({ name, found: file }) =>
        file?.isFile() ? [{ name, at: file.mtime, bytes: file.size }] : [],
      );
    },
    read: (name) => readFile(join(directory, name), 'utf8').catch(passIfGone),
    write: async (name, text, at) => {
      await createDirectory(directory, sync);
      await assertFreeSpace(Buffer.byteLength(text));
      await replaceBy(join(directory, name), async (file) => {
        await file.writeFile(text);
        if (at) await file.utimes(at, at);
      });
      await sync.directory(directory);
    },
    delete: (name) => rm(join(directory, name), { force: true }),
  };
};
