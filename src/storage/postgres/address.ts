import type { ConnectionOptions } from 'node:tls';
import { readSmallFileSync } from '../../lib/small-file.ts';

export interface Host {
  host: string;
  port: number;
}

/** Address of a database: one server, or several servers of which one accepts changes. */
export interface PostgresAddress {
  hosts: Host[];
  user: string | undefined;
  password: string | undefined;
  database: string;
  /** Options for TLS. False for connections without TLS. */
  ssl: ConnectionOptions | false;
}

const shape = /^postgres(?:ql)?:\/\/(?:([^:@/?]*)(?::([^@/?]*))?@)?([^@/?]*)\/([^@/?]+)(?:\?(.*))?$/;

const form = 'postgres://user@host/database';

/** Values of libpq's `target_session_attrs` that mean a server accepting changes. */
const accepted = ['read-write', 'primary', 'any'];

/**
 * Parses an address such as `postgres://user:password@one:5432,two/database?sslmode=verify-full`. `host`, `sslrootcert`
 * and `target_session_attrs` may also be parameters. Throws an Error whose message is a clause without the password.
 */
export const readPostgresUrl = (url: string): PostgresAddress => {
  const [, user, password, hosts = '', database = '', query] = shape.exec(url) ?? [];
  if (database === '')
    throw new Error(`the address must have the form ${form}; in a password, write @ as %40 and / as %2F`);
  const parameters = Object.fromEntries(new URLSearchParams(query));
  const { host = hosts, sslmode = 'disable', sslrootcert, target_session_attrs: wanted, ...others } = parameters;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new Error(`the address has an unknown parameter ${JSON.stringify(unknown)}`);
  if (wanted !== undefined && !accepted.includes(wanted)) {
    throw new Error(
      'target_session_attrs must be read-write, primary or any, because signalbox needs a server that accepts changes',
    );
  }
  return {
    hosts: host.split(',').map((each) => readHost(decode(each))),
    user: user === undefined ? undefined : decode(user),
    password: password === undefined ? undefined : decode(password),
    database: decode(database),
    ssl: readTls(sslmode, sslrootcert),
  };
};

/** Parses a host (a name or an address) and its port. A folder of Unix sockets also counts as a host. */
const readHost = (text: string): Host => {
  const [, host, port = '5432'] = /^(\/[^:]*|\[[\da-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  if (host === undefined || Number(port) > 65535) throw new Error(`the address must name a host, as in ${form}`);
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('the address has a % that is not part of an escaped character: write the % as %25');
  }
};

const readTls = (mode: string, path: string | undefined): ConnectionOptions | false => {
  if (mode === 'disable') return false;
  if (mode === 'require') return { rejectUnauthorized: false };
  if (mode !== 'verify-full') throw new Error('sslmode must be disable, require or verify-full');
  return path === undefined ? {} : { ca: readCertificates(path) };
};

const readCertificates = (path: string): string => {
  try {
    return readSmallFileSync(path).toString();
  } catch (error) {
    throw new Error(`sslrootcert cannot be read: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`);
  }
};
