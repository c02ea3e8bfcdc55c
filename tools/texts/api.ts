import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { features, schema } from '../../src/cli/program.ts';
import { createLog } from '../../src/cli/serve/log.ts';
import { loadSettings } from '../../src/config/load.ts';
import { createApp } from '../../src/server/create-app.ts';
import { openStorage } from '../../src/server/storage.ts';

/** Creates the OpenAPI document of all profiles at their default mounts, without a server that listens. */
export const describeApi = async (): Promise<unknown> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'signalbox-build-'));
  // The address of a database that does not exist adds the profile that only shared stores have.
  const flags = { dataDir, store: 'postgres://127.0.0.1:1/none', timeZone: 'UTC' };
  const secrets = { SIGNALBOX_ADMIN_PASSWORD: 'not a secret', SIGNALBOX_READER_PASSWORD: 'nor this' };
  const settings = loadSettings(schema, flags, { ...secrets, SIGNALBOX_JWT_SECRET: 'x'.repeat(32) });
  const { server } = await createApp(settings, { log: createLog('silent'), features, openStorage });
  try {
    return (await server.inject('/openapi.json')).json();
  } finally {
    await server.close();
    rmSync(dataDir, { recursive: true });
  }
};
