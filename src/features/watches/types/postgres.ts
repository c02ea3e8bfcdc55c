import { ServerError } from './conversation.ts';
import { defineLoginWatch } from './login.ts';

/** Checks that a PostgreSQL server accepts a login and answers `SELECT 1`. */
export const postgresWatch = defineLoginWatch({
  name: 'postgres',
  defaultPort: 5432,
  keys: ['user', 'database'],
  required: ['user'],
  beginsWithTls: false,
  ask: async (socket, login) => {
    // An agent needs the driver only for this check.
    const { askDatabase, toServerErrorText } = await import('../../../storage/postgres/probe.ts');
    await askDatabase(socket, login).catch((error: Error) => {
      const message = toServerErrorText(error);
      throw message === undefined ? error : new ServerError(message);
    });
  },
});
