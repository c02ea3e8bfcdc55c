import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files that occupy space until they are freed. */
export interface Fillers {
  /** Deletes one of the two files. */
  free(): void;
}

/** Fills a disk except for `leftBytes`, with two files of `bytes` each and a file with the rest. */
export const createFillers = (folder: string, bytes: number, leftBytes: number): Fillers => {
  const names = [join(folder, 'filler-1'), join(folder, 'filler-2')];
  for (const name of names) writeFileSync(name, Buffer.alloc(bytes));
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(folder, 'rest'), Buffer.alloc(Math.max(0, bavail * bsize - leftBytes)));
  return { free: () => rmSync(names.pop() ?? '') };
};
