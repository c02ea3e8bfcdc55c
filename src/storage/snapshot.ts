import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

/** A small file that is replaced as a whole, so a crash leaves the old or the new content. */
export interface Snapshot {
  /** The bytes of the last write; undefined if there is none or it cannot be read. */
  read(): Promise<Buffer | undefined>;
  /** Rejects if the file cannot be written. */
  write(bytes: Uint8Array): Promise<void>;
}

/** The snapshot with this file name in a directory, which is created with mode 0700 if it does not exist. */
export const createSnapshot = (directory: string, name: string): Snapshot => {
  const path = join(directory, name);
  return {
    read: () => readFile(path).catch(() => undefined),
    write: async (bytes) => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const unfinished = `${path}.new`;
      const file = await open(unfinished, 'w', 0o600);
      try {
        await file.writeFile(bytes);
        await file.datasync();
      } finally {
        await file.close();
      }
      await rename(unfinished, path);
    },
  };
};
