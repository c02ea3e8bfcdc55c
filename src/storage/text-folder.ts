import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createFolderOf } from './folder.ts';
import type { PortableFile, PortableFolder } from './portable-store.ts';

/** Opens a folder of small texts for an export or an import. Each file is a change. */
export const openTextFolder = (path: string): PortableFolder<PortableFile> => {
  const folder = createFolderOf(path);
  return {
    isEmpty: async () => (await folder.list()).length === 0,
    // The folder may still belong to a running server, so unfinished files stay.
    readSize: async () => {
      const names = await readdir(path);
      const found = await Promise.all(names.map((name) => stat(join(path, name))));
      return found.reduce((sum, { size }) => sum + size, 0);
    },
    read: async function* () {
      const found = (await folder.list()).sort((a, b) => (a.name < b.name ? -1 : 1));
      for (const { name, at, bytes } of found) {
        const text = await folder.read(name);
        if (text !== undefined) yield { file: name, changes: [{ name, at: at.getTime(), text }], bytes };
      }
    },
    add: async (files) => {
      for (const { name, text, at } of files) await folder.write(name, text, new Date(at));
    },
    save: async () => undefined,
    close: async () => undefined,
  };
};
