import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string | undefined;
let count = 0;

/** Flags for a store at this address, which holds a password and so is refused on the command line. */
export const toStoreFlags = (store: string): string[] => {
  if (folder === undefined) {
    const created = mkdtempSync(join(tmpdir(), 'signalbox-store-'));
    process.once('exit', () => rmSync(created, { recursive: true, force: true }));
    folder = created;
  }
  count += 1;
  const path = join(folder, `${count}.json`);
  writeFileSync(path, JSON.stringify({ store }), { mode: 0o600 });
  return ['--config', path];
};
