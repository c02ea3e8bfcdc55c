import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SettingsError } from '../config/settings-error.ts';
import { keepInMemory } from '../storage/changes/changes.ts';
import { createStateFile } from '../storage/changes/state-file.ts';
import { createSnapshot } from '../storage/snapshot.ts';
import { createLogOpener } from './journal-opener.ts';
import { createPassingSecrets } from './random-secrets.ts';
import type { OpenStorage } from './storage.ts';

/**
 * Runs a function with storage for an app that is only tried: neither the data directory nor the database of the settings
 * is opened, and nothing is left afterwards. Throws a SettingsError without a folder for temporary files.
 */
export const withTrialStorage = async <T>(run: (openStorage: OpenStorage) => Promise<T>): Promise<T> => {
  const folder = createTemporaryFolder();
  try {
    return await run(async (_settings, { log, meters }) => ({
      database: undefined,
      secrets: createPassingSecrets(),
      ...createLogOpener(folder, log, meters),
      openChanges: async (_name, state) => keepInMemory(state),
      openSnapshot: (name) => createSnapshot(folder, name),
      openState: (name) => createStateFile(join(folder, `${name}.state`)),
      reopen: async () => undefined,
      stop: () => undefined,
      close: async () => undefined,
    }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const createTemporaryFolder = (): string => {
  try {
    return mkdtempSync(join(tmpdir(), 'signalbox-check-'));
  } catch {
    throw new SettingsError([
      `cannot create a temporary folder in ${tmpdir()}: set TMPDIR to a folder that this account can write`,
    ]);
  }
};
