import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { atExit } from '../../test/faults/support/exit.ts';
import { admin } from '../../test/support/postgres/data-folder.ts';
import { toSkipPostgres } from '../../test/support/postgres/installation.ts';
import { type PostgresServer, startPostgres } from '../../test/support/postgres/server.ts';
import type { Done } from './load.ts';
import { NotMeasurable, requireDisk, requireProgram } from './machine.ts';
import type { Scope } from './scope.ts';
import type { Server } from './server.ts';
import { startSignalbox } from './signalbox.ts';

const runFile = promisify(execFile);

/** Connections of each side. */
export const connections = 64;

/** A server that syncs each commit, for the rows that need one; throws a NotMeasurable where none can run. */
export const startDatabase = async (scope: Scope): Promise<PostgresServer> => {
  const reason = toSkipPostgres();
  if (reason) throw new NotMeasurable(reason);
  requireDisk(tmpdir());
  const settings = { shared_buffers: '1GB', max_wal_size: '8GB', maintenance_work_mem: '512MB', max_connections: 200 };
  const server = await startPostgres(scope, { settings });
  // Otherwise logging in is a large part of what a short run of pgbench costs.
  await server.sql(`SET scram_iterations = 1; ALTER ROLE ${admin.user} PASSWORD '${admin.password}'`);
  return server;
};

/** An instance with the profile tasks on the server's database, or another one of it. */
export const startInstance = (scope: Scope, server: PostgresServer, database?: string): Promise<Server> =>
  startSignalbox(scope, {
    place: 'any',
    flags: ['--time-zone', 'UTC', '--profiles', 'monitoring,tasks'],
    variables: {
      SIGNALBOX_STORE: server.url(database),
      SIGNALBOX_JWT_SECRET: 'a signing key for measurements, 32 bytes',
    },
  });

/** Transactions of pgbench with a script of prepared statements, each on one of the connections. */
export const runPgbench = async (
  scope: Scope,
  server: PostgresServer,
  script: string,
  { seconds, clients = connections }: { seconds: number; clients?: number },
): Promise<Done> => {
  const path = join(scope.folder, 'script.sql');
  writeFileSync(path, script);
  const threads = String(Math.min(2, clients));
  const args = ['-n', '-M', 'prepared', '-c', String(clients), '-j', threads, '-T', String(seconds), '-f', path];
  const running = runFile(requireProgram('pgbench'), [...args, server.adminUrl]);
  const forget = atExit(() => running.child.kill('SIGKILL'));
  const { stdout } = await running.finally(forget);
  const [, count] = /actually processed: (\d+)/.exec(stdout) ?? [];
  const [, perSecond] = /^tps = ([\d.]+)/m.exec(stdout) ?? [];
  if (count === undefined || perSecond === undefined) throw new Error(`pgbench printed no rate:\n${stdout}`);
  return { count: Number(count), perSecond: Number(perSecond) };
};

/** Fills the empty table of tasks, whose statuses and priorities take turns, as an instance would have. */
export const fillTasks = async (url: string, count: number): Promise<void> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`INSERT INTO signalbox.task
      SELECT id, 1 + id % 2, 1 + id % 4, 1, format('{"Id":%s,"Title":"Check the backups of volume 42","Description":"Compare '
        'the checksums with those of the log.","Priority":"%s","Status":"%s","CreatedAt":"2026-01-31T09:30:00"}', id,
        (ARRAY['Low', 'Medium', 'High', 'Critical'])[1 + id % 4], (ARRAY['Pending', 'InProgress'])[1 + id % 2])
      FROM generate_series(1, ${count}) AS id`);
    await client.query(`UPDATE signalbox.gate SET last_id = ${count}, counts = (${countSets}) WHERE name = 'task'`);
    await client.query('VACUUM ANALYZE signalbox.task');
  } finally {
    await client.end();
  }
};

/** A set for each status, or any, and each priority, or any; there are four of both. */
const countSets = `SELECT array_agg(coalesce(count, 0) ORDER BY set) FROM generate_series(0, 24) AS set
  LEFT JOIN (SELECT coalesce(status, 0) * 5 + coalesce(priority, 0) AS set, count(*) FROM signalbox.task
    GROUP BY CUBE (status, priority)) AS counted USING (set)`;
