import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Reach } from '../../../kit/reach.ts';
import { toNetworkFailure } from './failures.ts';
import type { PhaseClock } from './phases.ts';
import { type Trust, toTlsOptions } from './trust.ts';

/** Addresses that network checks can reach, trusted CAs, and the clock that measures the phases of a connection. */
export interface NetworkAccess extends Trust {
  reach: Reach;
  clock: PhaseClock;
}

interface Server {
  /** Name or address without brackets. */
  host: string;
  port: number;
}

interface TlsWish {
  isTls: boolean;
  /** Names of the protocols above TLS. */
  protocols?: string[];
}

/** Removes the brackets of an IPv6 address: `[::1]` → `::1`. */
export const toBareHost = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

/** Returns the server's name for messages, such as `[::1]:443`. */
export const toServerName = ({ host, port }: Server): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** True for a name. A name must be looked up. */
export const isHostName = (host: string): boolean => isIP(toBareHost(host)) === 0;

/** Returns the server name to send in TLS. Empty for an address. */
export const toTlsName = (host: string): string => (isHostName(host) ? host : '');

/**
 * Opens a connection, with TLS if requested. The caller must destroy the socket. It is also destroyed when the signal
 * is aborted. Rejects with an Error whose message is the reason.
 */
export const openSocket = (
  { host, port }: Server,
  { isTls, protocols }: TlsWish,
  { reach: { assertHost, lookup }, clock, ...trust }: NetworkAccess,
  signal: AbortSignal,
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    assertHost(host);
    const options = { host, port, lookup };
    const toTls = () => ({ servername: toTlsName(host), ...toTlsOptions(trust) });
    const socket = isTls
      ? connectTls({ ...options, ...toTls(), ...(protocols && { ALPNProtocols: protocols }) })
      : connect(options);
    clock.follow(socket, { isTls, isNamed: isHostName(host) });
    endWith(socket, signal);
    // The listeners stay after the connection is open, because a later error must not crash the process. The caller
    // sees the socket close.
    socket.on('error', (error) => reject(toNetworkFailure(error, signal)));
    socket.on('close', () => reject(toNetworkFailure(new Error('the connection was closed'), signal)));
    socket.once(isTls ? 'secureConnect' : 'connect', () => resolve(socket));
  });

/** Destroys the socket when the signal is aborted. */
export const endWith = (socket: Socket, signal: AbortSignal): void => {
  const end = (): void => void socket.destroy();
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', end));
};
