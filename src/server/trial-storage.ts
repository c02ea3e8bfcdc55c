import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SettingsError } from '../config/settings-error.ts';
import { type OpenStorage, openStorage } from './storage.ts';

/**
 * Runs a function with temporary storage for a trial app. Opens neither the data directory nor the database in the
 * settings, and leaves nothing behind. Throws a SettingsError if there is no folder for temporary files.
 */
export const withTrialStorage = async <T>(run: (openStorage: OpenStorage) => Promise<T>): Promise<T> => {
  const folder = createTemporaryFolder();
  try {
    return await run((settings, parts) =>
      openStorage({ ...settings, store: 'memory', dataDir: folder, keepSecrets: false }, parts),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const createTemporaryFolder = (): string => {
  try {
    return mkdtempSync(join(tmpdir(), 'signalbox-check-'));
  } catch {
    throw new SettingsError([
      `cannot create a temporary folder in ${tmpdir()}: set TMPDIR to a folder to which this account can write`,
    ]);
  }
};
