import { randomUUID } from 'node:crypto';
import { after } from 'node:test';
import { readPostgresUrl } from '../../../src/storage/postgres/address.ts';
import { Primary } from '../../../src/storage/postgres/connection.ts';
import { migrate } from '../../../src/storage/postgres/schema.ts';
import { atEnd, type Scope } from '../scope.ts';
import { ordinary } from './data-folder.ts';
import { createOwnedFolder } from './installation.ts';
import { type PostgresServer, runSql, startPostgres } from './server.ts';

const fast = { fsync: 'off', full_page_writes: 'off', autovacuum: 'off' };

/** Folder of the shared server's Unix socket, once created. */
let sockets: string | undefined;
let started: Promise<PostgresServer> | undefined;
const ends: (() => unknown)[] = [];

/** Starts one server for all tests of a process, on the first call. The server is fast but not durable. */
export const shareServer = (): Promise<PostgresServer> => {
  started ??= startPostgres(
    { after: (end) => ends.push(end) },
    { settings: { ...fast, max_connections: 300, unix_socket_directories: shareSockets() } },
  );
  return started;
};

/** Returns the folder of the shared server's Unix socket. */
export const shareSockets = (): string => {
  sockets ??= createOwnedFolder();
  return sockets;
};

after(async () => {
  started = undefined;
  free.splice(0);
  for (const end of ends.splice(0).reverse()) await end();
});

/**
 * Names of free databases. They are reused because creating a database and its tables takes ten times as long as
 * clearing it.
 */
const free: string[] = [];

/** Resolves to false for a deadlock, so that the caller tries again. @throws other errors */
const isDeadlock = (error: Error & { code?: string }): false => {
  if (error.code === '40P01') return false;
  throw error;
};

/** Restores the state of new tables. A truncated table takes no space. */
const clear = `DO $$ DECLARE used text; BEGIN
  SELECT string_agg(oid::regclass::text, ', ') INTO used FROM pg_class
    WHERE relnamespace = 'signalbox'::regnamespace AND relkind = 'r' AND relname <> 'schema' AND pg_relation_size(oid) > 0;
  EXECUTE 'TRUNCATE ' || used || ' CASCADE';
  INSERT INTO signalbox.gate TABLE public.new_gate;
END $$`;

/**
 * Returns the URL of a database on the shared server with new tables. When the scope ends, other tests get the
 * database, so the tables themselves must not be changed.
 */
export const createDatabase = async (t?: Scope): Promise<string> => {
  const server = await shareServer();
  const name = free.pop() ?? (await createTables(server));
  if (t)
    atEnd(t, async () => {
      // The last queries of closed servers can still hold locks.
      const isCleared = () => runSql(toAdminUrl(server, name), clear).then(() => true, isDeadlock);
      while (!(await isCleared()));
      free.push(name);
    });
  return server.url(name);
};

/** Returns the URL of a database on the shared server without tables. */
export const createEmptyDatabase = async (): Promise<string> => {
  const server = await shareServer();
  return server.url(await createNew(server));
};

const toAdminUrl = ({ adminUrl }: PostgresServer, name: string): string => new URL(`/${name}`, adminUrl).href;

const createTables = async (server: PostgresServer): Promise<string> => {
  const name = await createNew(server);
  const connection = await new Primary(readPostgresUrl(server.url(name))).connect();
  await migrate(connection);
  connection.close();
  await runSql(toAdminUrl(server, name), 'CREATE TABLE public.new_gate AS TABLE signalbox.gate');
  return name;
};

const createNew = async (server: PostgresServer): Promise<string> => {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await server.sql(`CREATE DATABASE ${name} OWNER ${ordinary.user} STRATEGY FILE_COPY`);
  return name;
};
