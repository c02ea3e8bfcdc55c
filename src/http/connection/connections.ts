import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { listBytes, spareConnections } from './limits.ts';

/** Milliseconds between the checks for connections that have become idle during shutdown. */
const interval = 50;

/** Milliseconds of shutdown after which running requests are cut off. */
const patience = 8000;

/** Milliseconds after which a connection without a request may be closed to make room. */
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

/** The connections of a server by socket: counts them, and closes them with the app. */
export class Connections extends Map<Socket, Connection> {
  readonly #maximum: number;
  /** Sockets as accepted; with TLS, requests arrive on different ones. */
  readonly #accepted = new Set<Socket>();
  /** Accepted sockets with an unfinished TLS handshake, by client address. */
  readonly #handshaking = new Map<string, Socket>();
  /** When sockets without a complete request were opened, oldest first. */
  readonly #silentSince = new Map<Socket, number>();

  /** Number of lists that are being sent in pieces. */
  lists = 0;

  constructor(server: Server, maximum: number) {
    super();
    this.#maximum = maximum;
    server.maxConnections = maximum + spareConnections;
    const isTls = server instanceof TlsServer;
    server.on('drop', () => this.#makeRoom());
    server.on('connection', (socket) => {
      // Node counts per listener, and there may be two.
      if (this.#accepted.size >= maximum + spareConnections) socket.destroy();
      this.#accepted.add(socket);
      socket.once('close', () => this.#accepted.delete(socket));
      if (this.#accepted.size > maximum) this.#makeRoom();
      keep(this.#silentSince, socket, performance.now(), socket);
      if (isTls) keep(this.#handshaking, toClient(socket), socket, socket);
    });
    server.on(isTls ? 'secureConnection' : 'connection', (socket) => {
      // The client reset the connection before it was accepted: it has no address to count or audit, and reads nothing.
      if (socket.remoteAddress === undefined) {
        socket.destroy();
        return;
      }
      const handshaken = this.#handshaking.get(toClient(socket));
      if (handshaken) {
        this.#handshaking.delete(toClient(socket));
        this.#silentSince.delete(handshaken);
        keep(this.#silentSince, socket, performance.now(), socket);
      }
      const isExtra = this.#accepted.size > this.#maximum;
      const connection = { socket, isExtra, response: undefined, waiting: 0, isEnding: false };
      keep(this, socket, connection, socket);
    });
  }

  /** Closes the oldest connection without a complete request: idle ones could keep other clients out for 10 s. */
  #makeRoom(): void {
    for (const [socket, since] of this.#silentSince) {
      const isSilent = this.get(socket)?.response === undefined;
      if (isSilent && performance.now() - since < silence) return;
      this.#silentSince.delete(socket);
      if (!isSilent) continue;
      socket.destroy();
      this.#accepted.delete(socket);
      return;
    }
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
      for (const socket of this.#handshaking.values()) socket.destroy();
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
