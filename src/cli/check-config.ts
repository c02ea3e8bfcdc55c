import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TObject } from 'typebox';
import type { Flags } from '../config/load.ts';
import { prepare } from './serve.ts';

/**
 * Checks the settings as a start does, without listening and with an empty data folder in place of the real one. Logs
 * warnings; throws a SettingsError that lists every problem.
 */
export const checkConfig = async (schema: TObject, flags: Flags): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'signalbox-check-'));
  try {
    const { app, log, warnings } = await prepare(schema, flags, { dataDir, logLevel: 'warn' });
    await app.server.close();
    for (const warning of warnings) log.warn(warning);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
};
