import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { passwords, secret } from '../../support/credentials.ts';
import { cases, rounds } from '../../support/long.ts';
import { toSkipPostgres } from '../../support/postgres/installation.ts';
import { type PostgresServer, runSql, startPostgres } from '../../support/postgres/server.ts';
import { type Running, startProgram } from '../../support/program.ts';
import { toStoreFlags } from '../../support/store-flags.ts';
import { waitRandomly, waitUntil } from '../../support/wait.ts';
import { createDisk, diskPrograms, MiB } from './support/disk.ts';
import { createPowerSwitch } from './support/power-switch.ts';
import { requires } from './support/requirements.ts';

const skip = toSkipPostgres() || requires({ programs: diskPrograms, mounts: true, loops: true }).skip;

const clientCount = 8;
const roundCount = rounds(2, 100);

const start = (t: TestContext, dataDir: string, store: string): Promise<Running> =>
  startProgram(
    t,
    ['--data-dir', dataDir, ...toStoreFlags(store), '--max-event-loop-delay', '0', '--profiles', 'alerts'],
    {
      variables: {
        TZ: 'UTC',
        SIGNALBOX_JWT_SECRET: secret,
        SIGNALBOX_ADMIN_PASSWORD: passwords.admin,
        SIGNALBOX_READER_PASSWORD: passwords.reader,
      },
    },
  );

/** Sends each alert once until the server is gone. `ids` receives the ids of accepted alerts. */
const keepSending = async ({ request }: Running, ids: string[]): Promise<void> => {
  for (;;) {
    const answer = await request('POST', '/api/alert', { body: { message: randomUUID() } }).catch(() => undefined);
    if (!answer) return;
    if (answer.status === 200) ids.push(answer.json['id'] as string);
  }
};

const readIds = async (server: PostgresServer): Promise<Set<string>> =>
  new Set((await runSql<{ id: string }>(server.url(), 'SELECT id FROM signalbox.alert')).map(({ id }) => id));

for (const kind of cases(['ext4', 'xfs'] as const)) {
  test(`alerts in the spool survive power cuts on ${kind}, and are stored in the database once`, {
    skip,
  }, async (t) => {
    const server = await startPostgres(t, { settings: { fsync: 'off' } });
    const disk = await createDisk(t, { kind, bytes: 300 * MiB });
    const dataDir = join(disk.path, 'data');
    const accepted: string[] = [];
    for (let round = 0; round < roundCount; round += 1) {
      const program = await start(t, dataDir, server.url());
      const power = createPowerSwitch(disk.path);
      const ids: string[] = [];
      try {
        // In some rounds, the power is cut while the database is restarting.
        await server.stop('SIGKILL');
        const clients = Array.from({ length: clientCount }, () => keepSending(program, ids));
        await waitUntil('alerts are accepted', () => ids.length > 100 * Math.random());
        const back = round % 2 === 1 ? server.restart() : undefined;
        await waitRandomly(round % 2 === 1 ? 1500 : 50);
        // A later response may be for bytes that were lost.
        accepted.push(...ids);
        await power.cut();
        await program.stop('SIGKILL');
        await Promise.all([...clients, back]);
      } finally {
        await power.release();
      }
      await disk.remount();
      await server.restart();
    }
    const program = await start(t, dataDir, server.url());
    await waitUntil('all alerts are in the table', async () => {
      const stored = await readIds(server);
      return accepted.every((id) => stored.has(id));
    });
    await program.stop('SIGKILL');
    // Ids are unique in the table. If an alert was stored under two ids, its message appears twice.
    const [row] = await runSql<{ twice: number }>(
      server.url(),
      `SELECT (count(*) - count(DISTINCT body::json->>'message'))::int AS twice FROM signalbox.alert`,
    );
    t.diagnostic(`power cuts with a spool, ${kind}: ${roundCount} rounds, ${accepted.length} accepted, 0 lost`);
    assert.equal(row?.twice, 0);
  });
}
