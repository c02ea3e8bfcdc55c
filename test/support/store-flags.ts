import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeConfig } from './config-file.ts';

let folder: string | undefined;
let count = 0;

/**
 * Writes flags for a store and other settings. The store's URL is written to a file, because it contains a password and
 * is refused on the command line.
 */
export const toStoreFlags = (store: string, settings: object = {}): string[] => {
  if (folder === undefined) {
    const created = mkdtempSync(join(tmpdir(), 'signalbox-store-'));
    process.once('exit', () => rmSync(created, { recursive: true, force: true }));
    folder = created;
  }
  count += 1;
  return ['--config', writeConfig(folder, { store, ...settings }, `${count}.json`)];
};
