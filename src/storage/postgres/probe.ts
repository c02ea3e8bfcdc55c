import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';

interface ProbeLogin {
  host: string;
  user: string | undefined;
  password: string | undefined;
  database: string | undefined;
  /** Options for TLS. Undefined for a connection without TLS. */
  tls: ConnectionOptions | undefined;
}

/** Error for a server that demands a password although none has been set. */
class PasswordMissing extends Error {
  override readonly name = 'PasswordMissing';

  constructor() {
    super('a password is required');
  }
}

/** Logs in over an open connection and runs `SELECT 1`. The caller must destroy the connection. */
export const askDatabase = async (
  socket: Socket,
  { host, user, password = '', database = user, tls }: ProbeLogin,
): Promise<void> => {
  // The client normally connects its socket itself, but this socket is already connected.
  const stream = Object.assign(socket, {
    connect: () => {
      setImmediate(() => socket.emit('connect'));
      return socket;
    },
  });
  // A function keeps the client from reading the variable PGPASSWORD and ~/.pgpass. It is called only if the server
  // demands a password.
  const givePassword = (): string => {
    if (password === '') throw new PasswordMissing();
    return password;
  };
  const login = { user, password: givePassword, database };
  const client = new pg.Client({
    ...login,
    host,
    ssl: tls ?? false,
    stream: () => stream,
    application_name: 'signalbox watch',
  });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('SELECT 1');
};

/** Returns the message of an error that the server reports. Undefined for any other error. */
export const toServerErrorText = (error: Error): string | undefined =>
  error instanceof pg.DatabaseError || error instanceof PasswordMissing ? error.message : undefined;
