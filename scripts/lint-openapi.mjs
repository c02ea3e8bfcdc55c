import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createApp } from '../dist/src/app/create-app.js';
import { loadSettings } from '../dist/src/config/load.js';
import { createSettingsSchema } from '../dist/src/config/schema.js';
import { features } from '../dist/src/profiles/index.js';
import { root } from './prepare.mjs';

/** Lints the OpenAPI document of everything that is served by default. */
const folder = mkdtempSync(join(tmpdir(), 'signalbox-openapi-'));
const schema = createSettingsSchema(features.map(({ settings }) => settings));
const settings = loadSettings(schema, { dataDir: join(folder, 'data') }, {});
const log = pino({ level: 'silent' });
const { server } = await createApp(settings, { log, nodeVersion: process.versions.node, features });
const { body } = await server.inject('/openapi.json');
await server.close();
writeFileSync(join(folder, 'openapi.json'), body);
const { status } = spawnSync(
  join(root, 'node_modules', '.bin', 'redocly'),
  ['lint', '--config', 'redocly.yaml', join(folder, 'openapi.json')],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  },
);
rmSync(folder, { recursive: true });
process.exitCode = status ?? 1;
