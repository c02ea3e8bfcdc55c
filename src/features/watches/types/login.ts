import type { Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { readSmallFile } from '../../../lib/small-file.ts';
import type { WatchSettings } from '../schema.ts';
import { defineWatchType, type Finding, toMsText, type WatchType } from '../watch-type.ts';
import { converse, ServerError } from './conversation.ts';
import { toFault } from './failures.ts';
import { PhaseClock, toSeenText } from './phases.ts';
import { openSocket, toBareHost, toServerName, toTlsName } from './socket.ts';
import { findTrustProblem, readTrust, toTlsOptions, trustSettings } from './trust.ts';

export interface ServerLogin {
  host: string;
  user: string | undefined;
  password: string | undefined;
  database: string | undefined;
  /** Options of a TLS client. Undefined for a connection without TLS. */
  tls: (SecureContextOptions & { servername: string }) | undefined;
}

interface LoginType {
  name: 'postgres' | 'mysql' | 'redis';
  defaultPort: number;
  /** Settings that this login has in addition to those of every login. */
  keys: readonly ('user' | 'database')[];
  required?: readonly ('user' | 'database')[];
  /** True if the connection begins with TLS. Other protocols negotiate TLS later. */
  beginsWithTls: boolean;
  /**
   * Logs in over an open connection and sends one harmless query. Rejects with a ServerError if the server reports an
   * error, or with another Error if the conversation fails.
   */
  ask(socket: Socket, login: ServerLogin): Promise<void>;
}

/** Defines a watch that logs in to a server and sends one harmless query. */
export const defineLoginWatch = ({
  name,
  defaultPort,
  keys,
  required = [],
  beginsWithTls,
  ask,
}: LoginType): WatchType =>
  defineWatchType({
    name,
    scope: () => 'network',
    keys: ['host', 'port', 'password', 'passwordFile', 'tls', ...keys, ...trustSettings],
    required: ['host', ...required],
    limit: 'optional',
    defaultLevel: 'ERROR',
    every: 60,
    findProblem: (watch) =>
      watch.password !== undefined && watch.passwordFile !== undefined
        ? 'set either password or passwordFile, not both'
        : findTrustProblem(watch),
    check: async (watch, { reach }, signal) => {
      const { port = defaultPort, limit, user, database, tls = false } = watch;
      const host = toBareHost(watch.host ?? '');
      const thing = toServerName({ host, port });
      const trust = await readTrust(watch);
      const login: ServerLogin = {
        host,
        user,
        password: await readPassword(watch),
        database,
        tls: tls ? { servername: toTlsName(host), ...toTlsOptions(trust) } : undefined,
      };
      const clock = new PhaseClock();
      const access = { reach, clock, ...trust };
      const begun = performance.now();
      const open = () => openSocket({ host, port }, { isTls: tls && beginsWithTls }, access, signal);
      const fault = await open()
        .then((socket) => converse(socket, () => ask(socket, login), signal))
        .catch((error) => (error instanceof ServerError ? error : toFault(error)));
      const toBad = (words: string): Finding[] => [{ thing, isBad: true, words, seen: clock.see() }];
      if (typeof fault === 'string') return toBad(`${thing} fails: ${fault}`);
      clock.markFirstByte();
      clock.markEnd();
      if (fault) return toBad(`${thing} responded: ${toSeenText(fault.message)}`);
      const ms = performance.now() - begun;
      const common = { thing, words: `${thing} responded after ${toMsText(ms)}`, seen: clock.see() };
      return [
        limit === undefined ? { ...common, isBad: false, figure: ms } : { ...common, figure: ms, toText: toMsText },
      ];
    },
  });

const readPassword = async ({ password, passwordFile }: WatchSettings): Promise<string | undefined> => {
  if (passwordFile === undefined) return password;
  const text = await readSmallFile(passwordFile).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${passwordFile} cannot be read (${error.code ?? error.message})`);
  });
  return text.trimEnd();
};
