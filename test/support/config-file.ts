import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes a file of settings, given as an object or as text, that no other account can read. Returns its path. */
export const writeConfig = (folder: string, settings: object | string, name = 'config.json'): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof settings === 'string' ? settings : JSON.stringify(settings), { mode: 0o600 });
  return path;
};
