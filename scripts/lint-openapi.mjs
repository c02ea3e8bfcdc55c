import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startApp } from '../dist/test/support/app.js';
import { root, toolPath } from './prepare.mjs';

/** Lints the OpenAPI document of all default profiles. */
const cleanups = [];
const { request, folder } = await startApp({ after: (cleanup) => cleanups.push(cleanup) });
const path = join(folder, 'openapi.json');
writeFileSync(path, (await request('GET', '/openapi.json')).text);
const { status } = spawnSync(
  process.execPath,
  [toolPath('@redocly/cli', 'redocly'), 'lint', '--config', 'redocly.yaml', path],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  },
);
for (const cleanup of cleanups) await cleanup();
process.exitCode = status ?? 1;
