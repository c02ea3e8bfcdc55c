import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { FairShares, type Holder } from '../admission/fair-shares.ts';
import { listBytes, spareConnections } from './limits.ts';

/** Milliseconds between the checks for connections that have become idle during shutdown. */
const interval = 50;

/** Milliseconds of shutdown after which running requests are cut off. */
const patience = 8000;

/** Milliseconds after which a connection without a request counts as abandoned. */
const silence = 500;

/** A connection on which requests can arrive. */
export interface Connection {
  readonly socket: Socket;
  /** Opened beyond `maxConnections`: its requests are refused, and it is closed. */
  readonly isExtra: boolean;
  /** The response to the current or last request. */
  response: ServerResponse | undefined;
  /** Pipelined requests that wait for it. */
  waiting: number;
  /** Set with the last response: later bytes are ignored (RFC 9112, 9.6). */
  isEnding: boolean;
}

/** True while a request is running on the connection. */
export const isRunning = ({ response }: Connection): boolean => response !== undefined && !response.writableFinished;

interface Admitted {
  accepted: Accepted;
  isExtra: boolean;
}

/** A socket as it was accepted; with TLS, requests arrive on another one. */
class Accepted implements Holder {
  readonly socket: Socket;
  /** When it was opened, or its TLS handshake completed. */
  since = performance.now();
  /** Missing until the TLS handshake is complete. */
  connection: Connection | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  lose(): void {
    (this.connection ?? this).socket.destroy();
  }

  /** Without a complete request, a connection counts as abandoned soon: it could keep other clients out for 10 s. */
  activity(): 'abandoned' | 'idle' | 'busy' {
    const { connection, since } = this;
    if (connection && (isRunning(connection) || connection.waiting > 0)) return 'busy';
    return !connection?.response && performance.now() - since > silence ? 'abandoned' : 'idle';
  }
}

/**
 * The connections of a server by socket: divides them between addresses, and closes them with the app. A trusted proxy
 * has the connections of many clients, so each of its connections counts as an address of its own.
 */
export class Connections extends Map<Socket, Connection> {
  readonly #isProxy: (address: string | undefined) => boolean;
  /** Connections that are served, and those beyond, whose requests are refused. */
  readonly #served: FairShares;
  readonly #spare = new FairShares(spareConnections);
  readonly #accepted = new Set<Socket>();
  /** Accepted sockets with an unfinished TLS handshake, by client address. */
  readonly #handshaking = new Map<string, Admitted>();

  /** Number of lists that are being sent in pieces. */
  lists = 0;

  constructor(server: Server, maximum: number, isProxy: (address: string | undefined) => boolean) {
    super();
    this.#isProxy = isProxy;
    this.#served = new FairShares(maximum);
    // One more than can stay open: it is closed here, or in its place one of an address that holds more.
    server.maxConnections = maximum + spareConnections + 1;
    const isTls = server instanceof TlsServer;
    server.on('connection', (socket) => {
      const admitted = this.#admit(socket);
      if (!admitted) socket.destroy();
      else if (isTls) keep(this.#handshaking, toClient(socket), admitted, socket);
      else this.#open(socket, admitted);
    });
    server.on('secureConnection', (socket) => {
      const admitted = this.#handshaking.get(toClient(socket));
      this.#handshaking.delete(toClient(socket));
      if (admitted) this.#open(socket, admitted);
      else socket.destroy();
    });
  }

  /** Counts a socket that was accepted; undefined if it must be closed. */
  #admit(socket: Socket): Admitted | undefined {
    const { remoteAddress } = socket;
    // The client reset the connection before it was accepted: it has no address to count or audit, and reads nothing.
    if (remoteAddress === undefined) return undefined;
    const accepted = new Accepted(socket);
    const isProxy = this.#isProxy(remoteAddress);
    for (const shares of [this.#served, this.#spare]) {
      const part = isProxy ? shares.takeApart(accepted) : shares.take(remoteAddress, accepted);
      if (!part) continue;
      this.#accepted.add(socket);
      socket.once('close', () => {
        this.#accepted.delete(socket);
        shares.release(part);
      });
      return { accepted, isExtra: shares === this.#spare };
    }
    return undefined;
  }

  /** Takes requests from a socket. */
  #open(socket: Socket, { accepted, isExtra }: Admitted): void {
    const connection = { socket, isExtra, response: undefined, waiting: 0, isEnding: false };
    accepted.since = performance.now();
    accepted.connection = connection;
    keep(this, socket, connection, socket);
  }

  /** Sends `100 Continue` to a client that waits for it before sending its body (RFC 9110, 10.1.1). */
  sendContinue({ socket, headers, httpVersion }: IncomingMessage): void {
    if (headers.expect !== undefined && httpVersion === '1.1') this.get(socket)?.response?.writeContinue();
  }

  /** Bytes of responses that clients have not read yet, over all connections. */
  countUnread(): number {
    let bytes = this.lists * listBytes;
    for (const { writableLength } of this.keys()) bytes += writableLength;
    return bytes;
  }

  /** Closes idle connections at once, and busy ones after their response or after 8 s. */
  end(server: Server): void {
    const endIdle = (): void => {
      for (const { accepted } of this.#handshaking.values()) accepted.socket.destroy();
      for (const connection of this.values()) {
        if (!isRunning(connection) && connection.waiting === 0) connection.socket.destroy();
      }
    };
    endIdle();
    const idle = setInterval(endIdle, interval).unref();
    const all = setTimeout(() => this.#accepted.forEach((socket) => void socket.destroy()), patience).unref();
    server.once('close', () => {
      clearInterval(idle);
      clearTimeout(all);
    });
  }
}

/** Reading the address makes Node cache it; once the connection is reset, it is no longer available. */
const toClient = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/** Keeps an entry until the socket closes. */
const keep = <K, V>(entries: Map<K, V>, key: K, value: V, socket: Socket): void => {
  entries.set(key, value);
  socket.once('close', () => entries.delete(key));
};
