import { randomUUID } from 'node:crypto';
import { after } from 'node:test';
import { atEnd, type Scope } from '../scope.ts';
import { ordinary } from './data-folder.ts';
import { createOwnedFolder } from './installation.ts';
import { type PostgresServer, runSql, startPostgres } from './server.ts';

const fast = { fsync: 'off', full_page_writes: 'off', autovacuum: 'off' };

/** Where the shared server has its Unix socket. */
let sockets: string | undefined;
let started: Promise<PostgresServer> | undefined;
const ends: (() => unknown)[] = [];

/** One server for all tests of a process, which starts with the first call; it is fast, and not durable. */
export const shareServer = (): Promise<PostgresServer> => {
  started ??= startPostgres(
    { after: (end) => ends.push(end) },
    { settings: { ...fast, max_connections: 300, unix_socket_directories: shareSockets() } },
  );
  return started;
};

/** The folder of the shared server's Unix socket. */
export const shareSockets = (): string => {
  sockets ??= createOwnedFolder();
  return sockets;
};

after(async () => {
  started = undefined;
  free.splice(0);
  for (const end of ends.splice(0).reverse()) await end();
});

/** Names of databases that are empty again: to create one takes six times as long as to empty it. */
const free: string[] = [];

/** The address of an empty database of the shared server, which others get after the end of the scope, if there is one. */
export const createDatabase = async (t?: Scope): Promise<string> => {
  const server = await shareServer();
  const name = free.pop() ?? (await createNew(server));
  if (t)
    atEnd(t, async () => {
      await runSql(new URL(`/${name}`, server.adminUrl).href, 'DROP SCHEMA IF EXISTS signalbox CASCADE');
      free.push(name);
    });
  return server.url(name);
};

const createNew = async (server: PostgresServer): Promise<string> => {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await server.sql(`CREATE DATABASE ${name} OWNER ${ordinary.user} STRATEGY FILE_COPY`);
  return name;
};
