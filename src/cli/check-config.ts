import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TObject } from 'typebox';
import type { Flags } from '../config/load.ts';
import { prepare } from './serve.ts';

/**
 * Checks the settings like a server start, but does not listen and uses an empty temporary data folder. Logs warnings;
 * throws a SettingsError that lists every problem.
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
