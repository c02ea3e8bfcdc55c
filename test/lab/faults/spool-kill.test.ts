import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readAlertTable, sendInTime, waitForStored } from '../../support/alert-table.ts';
import { passwords, secret } from '../../support/credentials.ts';
import { createFolder } from '../../support/folder.ts';
import { toSkipPostgres } from '../../support/postgres/installation.ts';
import { startPostgres } from '../../support/postgres/server.ts';
import { type Running, startProgram } from '../../support/program.ts';
import { toStoreFlags } from '../../support/store-flags.ts';
import { waitUntil } from '../../support/wait.ts';

const startKillable = (t: TestContext, dataDir: string, store: string, flags: string[] = []): Promise<Running> =>
  startProgram(t, ['--data-dir', dataDir, ...toStoreFlags(store), '--max-event-loop-delay', '0', ...flags], {
    variables: {
      TZ: 'UTC',
      SIGNALBOX_JWT_SECRET: secret,
      SIGNALBOX_ADMIN_PASSWORD: passwords.admin,
      SIGNALBOX_READER_PASSWORD: passwords.reader,
    },
  });

test('alerts in the spool survive kills of the instance and a start without the database', {
  skip: toSkipPostgres(),
}, async (t) => {
  const server = await startPostgres(t);
  const dataDir = createFolder(t);
  const flags = ['--alerts-segment-bytes', '4096'];
  const ids: string[] = [];
  let program = await startKillable(t, dataDir, server.url(), flags);
  ids.push(await sendInTime(program, '0'));
  await server.stop('SIGKILL');
  for (let life = 0; life < 3; life += 1) {
    for (let index = 0; index < 20; index += 1) ids.push(await sendInTime(program, `${ids.length}`));
    await program.stop('SIGKILL');
    program = await startKillable(t, dataDir, server.url(), flags);
  }
  ids.push(await sendInTime(program, `${ids.length}`));
  await server.restart();
  // The instance is also killed while it empties the spool.
  await waitForStored(server, 2);
  await program.stop('SIGKILL');
  program = await startKillable(t, dataDir, server.url(), flags);
  await waitForStored(server, ids.length);
  ids.push(await sendInTime(program, `${ids.length}`));
  await waitForStored(server, ids.length);
  assert.deepEqual(
    (await readAlertTable(server)).map(({ id }) => id),
    ids,
  );
  const { code } = await program.stop();
  assert.equal(code, 0);
  program = await startKillable(t, dataDir, server.url(), flags);
  const segments = () => readdirSync(join(dataDir)).filter((name) => /^alerts-spool\.\d+\.jsonl$/.test(name));
  await waitUntil('files of shipped alerts are deleted', () => segments().length === 0);
});
