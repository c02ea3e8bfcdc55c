import { randomUUID } from 'node:crypto';
import { after, before } from 'node:test';
import { ordinary } from './data-folder.ts';
import { toSkipPostgres } from './installation.ts';
import { type PostgresServer, startPostgres } from './server.ts';

/** One server for all tests of a file, each with a database of its own; it is fast, and not durable. */
export const shareServer = () => {
  let server: PostgresServer;
  const ends: (() => unknown)[] = [];
  before(async () => {
    if (toSkipPostgres()) return;
    server = await startPostgres(
      { after: (end) => ends.push(end) },
      { settings: { fsync: 'off', max_connections: 300 } },
    );
  });
  after(async () => {
    for (const end of ends) await end();
  });
  return {
    /** The address of a database, which may not exist. */
    url: (name: string): string => server.url(name),
    /** The address of a new database. */
    createDatabase: async (): Promise<string> => {
      const name = `test_${randomUUID().replaceAll('-', '')}`;
      await server.sql(`CREATE DATABASE ${name} OWNER ${ordinary.user}`);
      return server.url(name);
    },
  };
};
