import { ServerError } from './conversation.ts';
import { defineLoginWatch } from './login.ts';

/** Checks that a MySQL or MariaDB server accepts a login and answers `SELECT 1`. */
export const mysqlWatch = defineLoginWatch({
  name: 'mysql',
  defaultPort: 3306,
  keys: ['user', 'database'],
  required: ['user'],
  beginsWithTls: false,
  ask: async (stream, { host, user = '', password = '', database, tls }) => {
    // The driver is large, and most servers do not need it.
    const { createConnection } = await import('./mysql-driver.ts');
    const connection = createConnection({
      stream,
      host,
      user,
      password,
      ...(database !== undefined && { database }),
      connectTimeout: 0,
      disableEval: true,
      flags: ['-LOCAL_FILES'],
      ...(tls && { ssl: { ...tls, verifyIdentity: true } as object }),
    });
    await new Promise<void>((resolve, reject) => {
      const fail = (error: Error & { sqlMessage?: string }): void =>
        reject(error.sqlMessage === undefined ? error : new ServerError(error.sqlMessage));
      connection.on('error', fail);
      connection.query('SELECT 1', (error) => (error ? fail(error) : resolve()));
    });
  },
});
