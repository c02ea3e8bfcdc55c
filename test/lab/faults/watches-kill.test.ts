import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeConfig } from '../../support/config-file.ts';
import { secret } from '../../support/credentials.ts';
import { createFolder } from '../../support/folder.ts';
import { startProgram } from '../../support/program.ts';
import type { Scope } from '../../support/scope.ts';
import { createClaims, signToken } from '../../support/tokens.ts';
import { createWatch, readWatch, waitForAlerts, waitForState } from '../../watches/support/watches.ts';

const token = signToken(createClaims());

const start = (t: Scope, folder: string, watches: object[]) => {
  const config = writeConfig(folder, { dataDir: join(folder, 'data'), watches });
  return startProgram(t, ['--config', config], { variables: { SIGNALBOX_JWT_SECRET: secret } });
};

test('after kill -9 a firing watch is not raised again, and a condition that ended meanwhile is resolved', async (t) => {
  const folder = createFolder(t);
  const path = join(folder, 'backup');
  const watch = { name: 'backup', type: 'file', path, every: 1 };
  const other = { ...watch, name: 'other', path: join(folder, 'other') };
  let server = await start(t, folder, [watch, other]);
  const raised = await waitForAlerts(server, 2);
  await createWatch(server, token, { name: 'made', type: 'cpu', limit: 101 });
  await server.stop('SIGKILL');

  server = await start(t, folder, [watch, other]);
  await waitForState(server, token, 'backup', 'firing');
  assert.equal((await readWatch(server, token, 'made')).origin, 'made');
  assert.deepEqual(await waitForAlerts(server, 2), raised);
  await server.stop('SIGKILL');

  // The condition ends while no server is running, and the other watch leaves the config file.
  writeFileSync(path, 'a backup');
  server = await start(t, folder, [watch]);
  const ended = (await waitForAlerts(server, 4)).slice(2);
  const firstOf = (source: string) => raised.find((alert) => alert.source === source)?.id;
  assert.deepEqual(
    ended.map(({ source, status, resolves }) => [source, status, resolves]).sort(),
    ['watch/backup', 'watch/other'].map((source) => [source, 'resolved', firstOf(source)]),
  );
  await server.stop('SIGKILL');

  // A resolved watch may fire again.
  rmSync(path);
  server = await start(t, folder, [watch]);
  const again = (await waitForAlerts(server, 5)).at(-1);
  assert.deepEqual([again?.source, again?.status], ['watch/backup', 'firing']);
  await server.stop();
});
