import { askDatabase, toServerMessage } from '../../../storage/postgres/probe.ts';
import { ServerError } from './conversation.ts';
import { defineLoginWatch } from './login.ts';

/** Checks that a PostgreSQL server accepts a login and answers `SELECT 1`. */
export const postgresWatch = defineLoginWatch({
  name: 'postgres',
  defaultPort: 5432,
  keys: ['user', 'database'],
  required: ['user'],
  beginsWithTls: false,
  ask: (socket, login) =>
    askDatabase(socket, login).catch((error: Error) => {
      const message = toServerMessage(error);
      throw message === undefined ? error : new ServerError(message);
    }),
});
