import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Scope } from '../scope.ts';
import { waitUntil } from '../wait.ts';
import { admin, ordinary } from './data-folder.ts';
import { owner, runAsOwner, type Version } from './installation.ts';
import { type PostgresServer, startPostgres } from './server.ts';

interface Options {
  version?: Version;
  /** True if a commit waits for the standby. Default: true. */
  synchronous?: boolean;
}

export interface Cluster {
  /** Servers in their current roles. `promote` swaps the roles. */
  primary: PostgresServer;
  standby: PostgresServer;
  /** URL with both hosts. It never changes. */
  url: string;
  /**
   * Promotes the standby in any state of the primary. Resolves to the milliseconds until the standby accepts changes.
   */
  promote(): Promise<number>;
  /**
   * Replaces the standby (the former primary) with a new copy on the same port. The copy is synchronous if the former
   * standby was.
   */
  replaceStandby(): Promise<void>;
}

/** Creates a primary and a standby that streams from it. */
export const createCluster = async (t: Scope, options: Options = {}): Promise<Cluster> => {
  const { version = 18, synchronous = true } = options;
  const first = await startPostgres(t, { version });
  const ports = [first.port];
  const standby = await startStandby(t, first);
  ports.push(standby.port);
  if (synchronous) await makeSynchronous(first);
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const cluster: Cluster = {
    primary: first,
    standby,
    url: `postgres://${ordinary.user}:${ordinary.password}@${hosts}/${ordinary.database}`,
    promote: async () => {
      const { primary, standby } = cluster;
      const begin = performance.now();
      await standby.sql('SELECT pg_promote(true, 60)');
      const milliseconds = performance.now() - begin;
      cluster.primary = standby;
      cluster.standby = primary;
      return milliseconds;
    },
    replaceStandby: async () => {
      const { primary, standby } = cluster;
      await standby.stop('SIGKILL');
      cluster.standby = await startStandby(t, primary, standby.port);
      if (synchronous) await makeSynchronous(primary);
    },
  };
  return cluster;
};

/** Starts a standby of the primary and waits until it streams. */
const startStandby = async (t: Scope, primary: PostgresServer, port?: number): Promise<PostgresServer> => {
  const source = `host=127.0.0.1 port=${primary.port} user=${admin.user} password=${admin.password}`;
  const standby = await startPostgres(t, {
    version: primary.version,
    ...(port !== undefined && { port }),
    settings: { primary_conninfo: `${source} application_name=standby` },
    createFrom: (data) => copyRunning(primary, data),
  });
  await waitUntil('the standby streams', async () => (await countStandbys(primary, `state = 'streaming'`)) === 1);
  return standby;
};

const makeSynchronous = async (primary: PostgresServer): Promise<void> => {
  await setReloadable(primary, 'synchronous_standby_names', '*');
  await waitUntil(
    'the standby is synchronous',
    async () => (await countStandbys(primary, `sync_state = 'sync'`)) === 1,
  );
};

/** Changes a setting of a running server. */
const setReloadable = async (server: PostgresServer, name: string, value: string): Promise<void> => {
  await server.sql(`ALTER SYSTEM SET ${name} = '${value}'`);
  await server.sql('SELECT pg_reload_conf()');
};

const countStandbys = async (primary: PostgresServer, condition: string): Promise<number> => {
  const query = `SELECT count(*)::int AS count FROM pg_stat_replication WHERE ${condition}`;
  return (await primary.sql<{ count: number }>(query))[0]?.count ?? 0;
};

/**
 * Copies the files of a running server between the start and end of a backup. Needed because the packages do not
 * include pg_basebackup.
 */
const copyRunning = async (server: PostgresServer, data: string): Promise<void> => {
  const client = new Client({ connectionString: server.adminUrl });
  await client.connect();
  try {
    // A file that vanishes during the copy is not an error.
    const copy = `mkdir -m 700 "$2" && cd "$1" && tar -c --warning=no-file-changed --warning=no-file-removed \
'--exclude=./pg_wal/?*' '--exclude=./postmaster.*' --exclude=./postgresql.auto.conf '--exclude=./pg_dynshmem/*' . | tar -x -C "$2"`;
    await client.query(`SELECT pg_backup_start('copy', fast => true)`);
    runAsOwner('sh', ['-c', copy, 'sh', server.data, data], { PATH: process.env['PATH'] });
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    for (const [name, content] of Object.entries({ backup_label: rows[0]?.labelfile ?? '', 'standby.signal': '' })) {
      const path = join(data, name);
      writeFileSync(path, content);
      if (owner.uid !== undefined) chownSync(path, owner.uid, owner.gid);
    }
  } finally {
    await client.end();
  }
};
