import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TObject } from 'typebox';
import type { Flags } from '../config/load.ts';
import { SettingsError } from '../config/settings-error.ts';
import { prepare } from './serve.ts';

/**
 * Checks the settings like a server start, but does not listen and uses an empty temporary data folder. Logs warnings;
 * throws a SettingsError that lists every problem.
 */
export const checkConfig = async (schema: TObject, flags: Flags): Promise<void> => {
  const dataDir = createTemporaryFolder();
  try {
    const { app, log, warnings } = await prepare(schema, flags, { dataDir, logLevel: 'warn' });
    await app.server.close();
    for (const warning of warnings) log.warn(warning);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
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
